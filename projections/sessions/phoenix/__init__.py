"""Arize Phoenix as a trace store: its API is called, nothing of it is part of us."""
