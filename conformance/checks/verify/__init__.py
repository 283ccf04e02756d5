"""The verification of written models."""
