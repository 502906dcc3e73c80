"""Lists of tools that took a secret, on record."""
