"""The console in a real Chromium, against a running service with demo data."""
