"""Connections to the servers that answer model calls."""
