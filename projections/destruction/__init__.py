"""Deletes what events have destroyed."""
