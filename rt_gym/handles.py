"""Handles: any number of arrays as one argument of a kernel.

A call from Python pays for every array it passes, and most for tuples of arrays. A handle is the address of a block of
memory in which the arrays are described the way kernels describe them to themselves, so it crosses for the price of a
number. Inside, ``handle.name`` is the tuple, array or number of that name; bind it to a local name before a loop.

    episode = handle(terrain=terrain, trip=trip)
    step(episode, 3)

A handle keeps what it was made of alive, and copies of it (``deepcopy``, pickling) are handles of the copies. It is
made anew whenever one of its parts is replaced by another array; what is written *into* an array needs no new handle.

The layout of an array is Numba's own business. ``_PACKED`` checks that it is what this module writes; where it is not,
and without the compiler, a NamedTuple of the same parts takes the handle's place.
"""

import struct
from collections import namedtuple
from collections.abc import Sequence
from functools import cache
from operator import getitem, is_
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.datamodel import default_manager
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numpy.typing import NDArray

from rt_gym.kernel_cache import DefaultOptions

_ARRAY = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
# Kernels that count references would count those of memory that is not theirs.
_PACKED = (
    not config.DISABLE_JIT
    and hasattr(DefaultOptions, "_nrt")
    and tuple(default_manager[types.int64[::1]]._fields) == _ARRAY
)


Parts = TypeVar("Parts", bound=type)


class HandleType(types.Type):
    """The type of a handle: the names and types of its parts."""

    def __init__(self, parts: tuple[tuple[str, types.Type], ...]) -> None:
        self.parts = parts
        super().__init__(f"Handle({', '.join(f'{name}: {kind.name}' for name, kind in parts)})")


@register_model(HandleType)
class _HandleModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: HandleType) -> None:
        super().__init__(manager, kind, cgutils.voidptr_t)


@infer_getattr
class _HandleAttribute(AttributeTemplate):
    key = HandleType

    def generic_resolve(self, kind: HandleType, name: str) -> types.Type | None:
        return dict(kind.parts).get(name)


@lower_getattr_generic(HandleType)
def _load_part(context, builder, kind, address, name):
    block = ir.LiteralStructType([context.get_value_type(part) for _, part in kind.parts])
    number = [part for part, _ in kind.parts].index(name)
    place = builder.bitcast(address, block.as_pointer())
    return builder.load(cgutils.gep_inbounds(builder, place, 0, number))


class HandlesType(types.Type):
    """The type of many handles of one type."""

    def __init__(self, element: HandleType) -> None:
        self.element = element
        super().__init__(f"Handles({element.name})")


@register_model(HandlesType)
class _HandlesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: HandlesType) -> None:
        super().__init__(manager, kind, cgutils.voidptr_t)


@infer_global(getitem)
class _ElementOfHandles(AbstractTemplate):
    def generic(self, args: tuple[types.Type, ...], kws: Any) -> Any:
        if isinstance(args[0], HandlesType) and isinstance(args[1], types.Integer):
            return signature(args[0].element, args[0], types.int64)
        return None


@lower_builtin(getitem, HandlesType, types.Integer)
def _load_handle(context, builder, sig, args):
    addresses = builder.bitcast(args[0], cgutils.voidptr_t.as_pointer())
    return builder.load(builder.gep(addresses, [args[1]]))


@unbox(HandlesType)
@unbox(HandleType)
def _unbox_handle(kind, handle, c):
    number = c.pyapi.object_getattr_string(handle, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address)


class Handle:
    """What ``handle`` returns; Numba takes its type from the attribute of that name.

    Describing a part takes longer than all else, so what an ``older`` handle has described is taken from there.
    """

    __slots__ = ("_numba_type_", "address", "block", "described", "parts")
    parts: dict[str, Any]
    described: dict[str, tuple[Any, NDArray[np.int64]]]

    def __init__(self, parts: dict[str, Any], older: "Handle | None" = None) -> None:
        known = {} if older is None else {id(part): older.described[name] for name, part in older.parts.items()}
        self.parts = parts
        self.described = {name: known.get(id(part)) or _describe(part) for name, part in parts.items()}
        self._numba_type_ = _type_of(parts, tuple(kind for kind, _ in self.described.values()))
        self.block = np.concatenate([words for _, words in self.described.values()])
        self.address = self.block.ctypes.data

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.parts,)


class Handles:
    """What ``stack`` returns: the addresses of handles, and the handles, so that they stay alive."""

    __slots__ = ("_numba_type_", "address", "block", "handles")

    def __init__(self, handles: Sequence[Handle]) -> None:
        self.handles = tuple(handles)
        self.block = np.array([each.address for each in handles], np.int64)
        self.address = self.block.ctypes.data
        self._numba_type_ = _known_stacks.setdefault(kind_of(handles[0]), HandlesType(kind_of(handles[0])))

    def __reduce__(self) -> tuple[Any, ...]:
        return stack, (self.handles,)


_known_stacks: dict[Any, HandlesType] = {}


def stack(handles: Sequence[Any]) -> Any:
    """Return handles of one kind as one argument for kernels, in which ``handles[i]`` is one of them."""
    return Handles(handles) if _PACKED else tuple(handles)


def kind_of(handle: Any) -> Any:
    """Return what is the same for handles that can be stacked."""
    return handle._numba_type_ if _PACKED else type(handle)


def handle(**parts: Any) -> Any:
    """Return arrays, NamedTuples of them, numbers and None as one argument for kernels."""
    return _remake(parts)


class KeptHandle:
    """The handle of parts that are rarely replaced: a new one is made only where that has happened."""

    def __init__(self) -> None:
        self._parts: dict[str, Any] = {}
        self._handle: Any = None
        self._nbytes: int | None = None

    def of(self, **parts: Any) -> Any:
        """Return the handle of these parts, whose names must be the same in every call."""
        if not self._parts or not all(map(is_, parts.values(), self._parts.values())):
            self._parts, self._handle, self._nbytes = parts, _remake(parts, self._handle), None
        return self._handle

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays of the handle take."""
        if self._nbytes is None:
            self._nbytes = bytes_of(self.parts)
        return self._nbytes

    @property
    def parts(self) -> tuple[Any, ...]:
        """What the handle was last made of."""
        return tuple(self._parts.values())


def trusting(kind: Parts) -> Parts:
    """Let kernels take a NamedTuple of this kind without a handle as they take it in one: see ``_numba_type``."""
    typeof_impl.register(kind)(lambda part, _: _numba_type(part))
    return kind


def with_parts(parts: Any, **changes: Any) -> Any:
    """Return a NamedTuple with other parts; the same tuple, whose handle is kept, if it has them already."""
    if all(getattr(parts, name) is part for name, part in changes.items()):
        return parts
    return parts._replace(**changes)


def bytes_of(parts: Any) -> int:
    """Return how many bytes the arrays in nested tuples take, each counted once."""
    arrays, todo = {}, [parts]
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo.extend(part)
        elif isinstance(part, np.ndarray):
            arrays[id(part)] = part.nbytes
    return sum(arrays.values())


def _remake(parts: dict[str, Any], older: Any = None) -> Any:
    return Handle(parts, older) if _PACKED else _parts_type(tuple(parts))(**parts)


@cache
def _parts_type(names: tuple[str, ...]) -> Any:
    make: Any = namedtuple  # a name that is known only now is more than the type checker takes
    kind = make("Parts", names)
    kind.__reduce__ = lambda self: (_remake, (self._asdict(),))  # pickling would look for the class by its name
    return kind


_known: dict[Any, HandleType] = {}


def _type_of(parts: dict[str, Any], kinds: tuple[Any, ...]) -> HandleType:
    """Return the type of a handle; asking Numba for every array takes a hundred times as long as remembering."""
    key = tuple(parts), kinds
    if key not in _known:
        _known[key] = HandleType(tuple((name, _numba_type(part)) for name, part in parts.items()))
    return _known[key]


def _numba_type(part: Any) -> types.Type:
    """Return the type of a part. Kernels are trusted: to them a map that nothing else can write to is like any other.

    They would be compiled twice otherwise, for maps that change and for those that do not.
    """
    if isinstance(part, np.ndarray):
        return typeof(part).copy(readonly=False)
    if isinstance(part, tuple):
        return types.BaseTuple.from_types([_numba_type(each) for each in part], type(part))
    return typeof(part)


def _describe(part: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the kind of a part, and its words."""
    return _kind(part), np.array(_words(part), np.int64)


def _kind(part: Any) -> Any:
    """Return what tells the types of two parts from each other."""
    if isinstance(part, np.ndarray):
        return part.dtype, part.ndim, part.flags.c_contiguous, part.flags.f_contiguous, part.flags.aligned
    return (type(part), *map(_kind, part)) if isinstance(part, tuple) else type(part)


def _words(part: Any) -> list[int]:
    """Return a part as kernels hold it, in words of eight bytes."""
    if isinstance(part, np.ndarray):
        return [0, 0, part.size, part.itemsize, part.ctypes.data, *part.shape, *part.strides]
    if isinstance(part, tuple):
        return [word for each in part for word in _words(each)]
    if isinstance(part, (float, np.float64)):
        return [int.from_bytes(struct.pack("=d", part), "little", signed=True)]
    if part is None:
        return [0]
    if isinstance(part, (int, np.int64)) and not isinstance(part, bool):
        return [int(part)]
    raise TypeError(f"a handle holds arrays, tuples, int, float and None, not {type(part).__name__}")
