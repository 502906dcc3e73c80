"""Tokens of agents."""
