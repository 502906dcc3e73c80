"""Reads of the history, on record."""
