"""Processor instructions that Python has no word for: all LLVM code of the package, except that of ``handles``.

With the compiler switched off, each has a version in plain Python that returns the same; ``prefetch`` does nothing.
"""

import platform
from time import perf_counter_ns

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

_COUNTER = "llvm.readcyclecounter" if platform.machine().lower() in ("x86_64", "amd64") else "llvm.readsteadycounter"

if config.DISABLE_JIT:

    def ticks():
        """Return nanoseconds."""
        return perf_counter_ns()

    def bit_length(value):
        """Return how many bits ``value`` needs."""
        return int(value).bit_length()

    def lowest(bits):
        """Return the number of the lowest bit that is set; there must be one."""
        return (int(bits) & -int(bits)).bit_length() - 1

    def prefetch(array, k):
        """Do nothing: plain Python cannot prefetch."""

    def write_bits(bits, out, k):
        """Write the lowest sixteen bits as floats from ``out[k]`` on."""
        write_some_bits(bits, out, k, k + np.uint64(16))

    def write_some_bits(bits, out, k, end):
        """Write up to sixteen bits as floats from ``out[k]`` on, none at ``end`` or after it."""
        for j in range(min(int(end) - int(k), 16)):
            out[int(k) + j] = int(bits) >> j & 1

else:

    @intrinsic
    def ticks(typingctx):
        """Return the processor's counter."""

        def codegen(context, builder, signature, args):
            kind = ir.FunctionType(ir.IntType(64), [])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, _COUNTER), [])

        return types.int64(), codegen

    @intrinsic
    def bit_length(typingctx, value):
        """Return how many bits a positive int64 needs."""

        def codegen(context, builder, signature, args):
            zeros = builder.ctlz(args[0], cgutils.true_bit)
            return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

        return types.int64(types.int64), codegen

    @intrinsic
    def lowest(typingctx, bits):
        """Return the number of the lowest bit that is set; there must be one."""

        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.IntType(1)(1))

        return types.int64(types.int64), codegen

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

    def _floats(builder, bits):
        lanes, floats = ir.VectorType(ir.IntType(1), 16), ir.VectorType(ir.FloatType(), 16)
        chosen = builder.bitcast(builder.trunc(bits, ir.IntType(16)), lanes)
        return builder.select(chosen, ir.Constant(floats, [1.0] * 16), ir.Constant(floats, [0.0] * 16))

    def _place(context, builder, kind, array, k):
        data = cgutils.create_struct_proxy(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [k]), ir.VectorType(ir.FloatType(), 16).as_pointer())

    @intrinsic
    def write_bits(typingctx, bits, out, k):
        """Write the lowest sixteen bits as floats from ``out[k]`` on."""

        def codegen(context, builder, signature, args):
            bits, array, k = args
            builder.store(_floats(builder, bits), _place(context, builder, signature.args[1], array, k), align=4)
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.uint64), codegen

    @intrinsic
    def write_some_bits(typingctx, bits, out, k, end):
        """Write up to sixteen bits as floats from ``out[k]`` on, none at ``end`` or after it."""

        def codegen(context, builder, signature, args):
            bits, array, k, end = args
            word, half = ir.IntType(64), ir.IntType(16)
            left = builder.sub(end, k)
            count = builder.select(builder.icmp_unsigned("<", left, word(16)), left, word(16))
            inside = builder.sub(builder.shl(word(1), count), word(1))
            lanes = builder.bitcast(builder.trunc(inside, half), ir.VectorType(ir.IntType(1), 16))
            floats, place = _floats(builder, bits), _place(context, builder, signature.args[1], array, k)
            kind = ir.FunctionType(ir.VoidType(), [floats.type, place.type, ir.IntType(32), lanes.type])
            store = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.store.v16f32.p0")
            builder.call(store, [floats, place, ir.IntType(32)(4), lanes])
            return context.get_dummy_value()

        return types.void(types.uint64, out, types.uint64, types.uint64), codegen
