"""Casts: the kernels, tensor files, and what other implementations of Cast do."""
