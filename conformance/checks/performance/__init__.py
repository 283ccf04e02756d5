"""Time and memory of recast."""
