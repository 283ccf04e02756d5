"""Random models through several commands."""
