"""`recast inspect`."""
