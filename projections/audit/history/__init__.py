"""Replays of the history, and comparisons."""
