"""Recordings of what instrumentations write, against what the provider answered."""
