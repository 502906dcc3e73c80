"""Followers, rebuilds and time travel."""
