"""Shared by all routes: parsing, the envelope, errors, and running a command."""
