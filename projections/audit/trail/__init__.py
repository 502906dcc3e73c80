"""Who did what, when."""
