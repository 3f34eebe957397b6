"""What kernels are made of: the one decorator, records of scalars, and tuples of arrays behind one argument.

Kernels share their state by name. Scalars are the fields of a ``record``, arrays the fields of a NamedTuple. What
crosses from Python into a kernel crosses as a ``handle``, which costs the same whatever it holds; a batch keeps one row
per episode in the same tuples and cuts its rows with ``row`` and ``merge``.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config, types
from numba.extending import overload

from rt_gym.kernel_cache import DefaultOptions, KernelCache, stamp


def kernel(func: Callable[..., Any] | None = None, *, inline: bool = False, also: Iterable[str | Path] = ()) -> Any:
    """Compile a function to machine code at its first call and keep the code on disk for later processes.

    Kernels do not allocate: no ``np.empty``, no lists, no copying of slices. Their arrays are handed in.
    With ``NUMBA_DISABLE_JIT=1`` the function is returned as it is.

    Args:
        func: The function; left out when the decorator is written with arguments.
        inline: Whether to paste the code into each caller, for small helpers in hot loops.
        also: Files the kernel depends on without importing them, such as the file of an agent's ``plan`` that was put
            among the globals of a shared loop. Such a loop also needs a ``__qualname__`` of its own, because that is
            the name of its cache file.
    """
    if func is None:
        return partial(kernel, inline=inline, also=also)
    if config.DISABLE_JIT:
        return func
    options = _options(inline)
    dispatcher = _compiled(func, options, also)
    if hasattr(DefaultOptions, "no_cpython_wrapper"):
        _call_without_wrapper(dispatcher, lambda: _compiled(func, options | {"no_cpython_wrapper": True}, also))
    return dispatcher


def _compiled(func: Callable[..., Any], options: dict[str, Any], also: Iterable[str | Path]) -> Any:
    """Return a function that Numba compiles with these options and keeps on disk, each set of options in its files.

    The cache saves time and nothing else. Whatever keeps it from being made (no writable folder, no source file, a
    Numba with other insides) must not keep the kernel from running.
    """
    dispatcher = numba.njit(**options)(func)
    kind = ".inner" if "no_cpython_wrapper" in options else ""
    with suppress(Exception):
        dispatcher._cache = KernelCache(func, stamp([__file__, func.__code__.co_filename, *also], options), kind)
    return dispatcher


def _call_without_wrapper(dispatcher: Any, make: Callable[[], Any]) -> None:
    """Let kernels that call this one call what ``make`` returns: the same without an entry point for Python.

    That entry takes every array of every tuple apart. It would take nearly half of the time to compile, and most
    kernels are called by kernels only.
    """
    inner = cache(make)
    dispatcher.get_call_template = lambda args, kws: inner().get_call_template(args, kws)
    dispatcher.get_overload = lambda sig: inner().get_overload(sig)


def typed(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Let kernels call ``plain``, whose implementation is chosen by the types of its arguments.

    The decorated function takes Numba types and returns the implementation. Without the compiler ``plain`` itself runs.
    """
    return overload(plain, jit_options=_options(inline=True), inline="never")


def is_array(kind: types.Type) -> bool:
    """Whether a Numba type is that of an array."""
    return isinstance(kind, types.Array)


def is_none(kind: types.Type) -> bool:
    """Whether a Numba type is that of None."""
    return isinstance(kind, types.NoneType)


def type_of_part(kind: Any, name: str) -> types.Type:
    """Return the Numba type of a field of a NamedTuple."""
    return kind.types[kind.fields.index(name)]


def _options(inline: bool) -> dict[str, Any]:
    """Return the options for ``njit``, without those that this Numba lacks: it would complain at the first call."""
    extra = {
        "_nrt": False,  # no reference counts: up to 3x in loops that pass arrays to helpers; the price is no allocation
        "no_cfunc_wrapper": True,  # an entry point for C that nobody uses and that takes a fifth of the compile time
    } | ({"forceinline": True} if inline else {})
    # Division as in NumPy: without a test for zero, hence without a branch that raises. Without the GIL: a kernel knows
    # nothing of Python, so threads with arrays of their own may run side by side.
    plain = {"error_model": "numpy", "nogil": True}
    return plain | {name: value for name, value in extra.items() if hasattr(DefaultOptions, name)}


class Fields(np.void):  # type: ignore[misc]  # final for type checkers, not for NumPy
    """An entry of a record array in plain Python: NumPy's own ``record`` takes three times as long for a field."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except ValueError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def record(**fields: type[int] | type[float]) -> np.dtype[Any]:
    """Return the type of a record whose fields kernels and plain Python read and write by name.

    One is kept as an array of one entry, ``state = memory.state[0]; state.count += 1``: as an argument, a lone record
    costs three times as much.

    Raises:
        ValueError: for a name that NumPy's records have a meaning for, such as ``size``: plain Python would read that.
    """
    taken = [name for name in fields if hasattr(np.void, name)]
    if taken:
        raise ValueError(f"a record cannot have the fields {', '.join(taken)}")
    layout = [(name, "i8" if kind is int else "f8") for name, kind in fields.items()]
    return np.dtype((Fields, np.dtype(layout, align=True)))


def fields_of(kind: np.dtype[Any]) -> Any:
    """Return a NamedTuple for all fields of a record: ``kind._make(state.item())`` is faster than to read two."""
    make: Any = namedtuple  # names that are known only now are more than the type checker takes
    return make("Fields", kind.names)


def row(arrays: Any, i: int) -> Any:
    """Return entry ``i`` of every array in nested tuples; what is None stays None."""
    if isinstance(arrays, tuple):
        return type(arrays)(*(row(part, i) for part in arrays))
    return None if arrays is None else arrays[i]


def merge(first: Any, second: Any) -> Any:
    """Return a nested tuple with what ``first`` holds, and what ``second`` holds wherever ``first`` has None."""
    if first is None:
        return second
    if isinstance(first, tuple) and second is not None:
        return type(first)(*map(merge, first, second))
    return first


def absent(kind: Any) -> Any:
    """Return a NamedTuple that has None for every part, to be filled by ``_replace`` and ``merge``."""
    return kind(*[None] * len(kind._fields))


def write_fields(values: Any, out: Any, k: int) -> None:
    """Write the fields of a NamedTuple of numbers into ``out``, from entry ``k`` on."""
    for j, value in enumerate(values):
        out[k + j] = value


@typed(row)
def _row(arrays, i):
    makers = {}
    return eval(f"lambda arrays, i: {_row_of(arrays, 'arrays', makers)}", makers)


@typed(merge)
def _merge(first, second):
    makers = {}
    return eval(f"lambda first, second: {_merge_of(first, second, ('first', 'second'), makers)}", makers)


def _row_of(kind: types.Type, name: str, makers: dict[str, Any]) -> str:
    """Return the source of what ``row`` makes of a part. A kernel returns no bare array, so all is one expression."""
    if isinstance(kind, types.BaseNamedTuple):
        return _call(kind, makers, [_row_of(part, f"{name}.{field}", makers) for field, part in _parts(kind)])
    return "None" if isinstance(kind, types.NoneType) else f"{name}[i]"


def _merge_of(first: types.Type, second: types.Type, names: tuple[str, str], makers: dict[str, Any]) -> str:
    """Return the source of what ``merge`` makes of two parts."""
    if isinstance(first, types.NoneType):
        return names[1]
    if isinstance(second, types.NoneType) or not isinstance(first, types.BaseNamedTuple):
        return names[0]
    both = zip(_parts(first), _parts(second), strict=True)
    parts = [
        _merge_of(one, other, (f"{names[0]}.{field}", f"{names[1]}.{field}"), makers)
        for (field, one), (_, other) in both
    ]
    return _call(first, makers, parts)


def _parts(kind: Any) -> Iterable[tuple[str, types.Type]]:
    return zip(kind.fields, kind.types, strict=True)


def _call(kind: Any, makers: dict[str, Any], parts: list[str]) -> str:
    name = f"make_{len(makers)}"
    makers[name] = kind.instance_class
    return f"{name}({', '.join(parts)})"


@typed(write_fields)
def _write_fields(values, out, k):
    lines = [f"    out[k + {j}] = values[{j}]" for j in range(len(values))]
    scope = {}
    exec("\n".join(["def write(values, out, k):", *lines]), scope)
    return scope["write"]
