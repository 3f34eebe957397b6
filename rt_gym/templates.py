"""Templates: loops that several kernels have in common, each bound to kernels of its own.

A kernel cannot take another one as an argument: such a call never finds its code in the disk cache. So a loop is
written once, with functions that stand in for what differs, and ``bind`` makes a kernel of it for every set of those.
"""

import types
from collections.abc import Callable
from typing import Any

from rt_gym.jit import kernel


def bind(template: Callable[..., Any], **kernels: Any) -> Any:
    """Return a copy of a template, as a kernel of its own, in which these kernels take the places of those names.

    The qualified name keeps the disk caches of two copies apart: Numba identifies cached functions by name and byte
    code, and these have equal byte code.
    """
    sources = [getattr(each, "py_func", each) for each in kernels.values()]
    bound = types.FunctionType(template.__code__, template.__globals__ | kernels, template.__name__)
    names = (f"{source.__module__}.{source.__qualname__}" for source in sources)
    bound.__qualname__ = ".".join([template.__name__, *names])
    bound.__module__ = template.__module__
    return kernel(bound, also=[source.__code__.co_filename for source in sources])
