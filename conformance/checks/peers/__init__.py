"""Other tools on the same models: what they keep, what they break, time and memory."""
