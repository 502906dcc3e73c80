"""Sums of tokens and cost, by time."""
