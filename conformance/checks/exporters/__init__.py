"""Models of real exporters, which exporters/scripts/ make with random weights."""
