"""`recast convert`."""
