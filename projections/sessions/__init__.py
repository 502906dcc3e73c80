"""The session list."""
