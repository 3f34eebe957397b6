"""Search kernels that several agents share, each written once."""
