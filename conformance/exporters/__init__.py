"""Models of real exporters: exported by scripts/ in environments of their own, then folded and converted."""
