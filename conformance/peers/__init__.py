"""Measurements: recast beside other tools, and how its time and memory grow."""
