"""Tool calls that a person is asked about."""
