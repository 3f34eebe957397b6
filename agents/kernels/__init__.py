"""Kernels that serve one algorithm and need a file of their own beside it."""
