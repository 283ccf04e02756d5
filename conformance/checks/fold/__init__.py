"""`recast fold`."""
