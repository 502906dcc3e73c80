"""Names and versions of secrets, never their values."""
