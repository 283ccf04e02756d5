"""`recast precision`."""
