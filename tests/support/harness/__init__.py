"""Real processes for tests: start, wait until ready, stop, kill; logs on failure."""
