"""Other tools: their environments, and the processes that run them."""
