"""The web console: its files, and signing in with a cookie."""
