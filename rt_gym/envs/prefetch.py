"""Asking for memory before it is needed.

Thousands of episodes that stand anywhere find little of what they need in the cache, and a search that follows its
frontier waits for one line after the other. Asked for all at once beforehand, the lines arrive side by side.
"""

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from rt_gym.jit import kernel
from rt_gym.search.values import home_of

if config.DISABLE_JIT:

    def prefetch(array, k):
        """Do nothing: plain Python has no such thing."""

else:

    @intrinsic
    def prefetch(typingctx, array, k):
        """Ask for the cache line of entry ``k`` of a one-dimensional array; any number is harmless."""

        def codegen(context, builder, signature, args):
            data = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
            word = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
            ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(ask, [place, word(0), word(3), word(1)])
            return context.get_dummy_value()

        return types.void(array, types.int64), codegen


@kernel
def prefetch_ball(mask, seat, learned, stride, s, entry, depth):
    """Ask for what a lookahead from ``s`` will read: the moves, the seats and the values of its cells.

    ``entry`` is that of ``s`` in the table of values; those of other cells are as far from it as the cells are.
    """
    last = learned.state[0].places - 1
    for dy in range(-depth, depth + 1):
        first = s + dy * stride - depth
        prefetch(mask, first)
        prefetch(mask, first + 2 * depth)
        for k in range(0, 2 * depth + 8, 8):
            prefetch(seat, first + k)
        for k in range(0, 2 * depth + 4, 4):
            place = home_of(last, entry - s + first + k)
            prefetch(learned.cells, place)
            prefetch(learned.values, place)
