"""Sets of directions as numbers: bit ``d`` is set where direction ``d`` is in the set."""

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def lowest(bits):
        """Return the number of the lowest bit that is set; there must be one."""
        return (int(bits) & -int(bits)).bit_length() - 1

else:

    @intrinsic
    def lowest(typingctx, bits):
        """Return the number of the lowest bit that is set; there must be one."""

        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.IntType(1)(1))

        return types.int64(types.int64), codegen
