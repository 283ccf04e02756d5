"""How models of real exporters are made: scripts/ export them in environments of their own."""
