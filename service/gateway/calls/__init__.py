"""Tool calls on record."""
