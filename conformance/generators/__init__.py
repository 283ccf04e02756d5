"""Random models from a seed."""
