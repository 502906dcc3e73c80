"""Users, their roles and tokens."""
