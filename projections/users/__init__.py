"""Users and their tokens, listed."""
