"""Faults against real processes, and what must hold of the log all the same."""
