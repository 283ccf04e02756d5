"""How models and tensors are stored: unchanged bytes, external data."""
