"""`recast lint`."""
