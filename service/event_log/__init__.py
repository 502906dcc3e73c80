"""The event log: append with group commit, load, read, notify of commits."""
