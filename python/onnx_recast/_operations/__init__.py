"""The functions of the package, one module each: its options, what it does and its results."""
