"""The event log: append with group commit, read, and be woken by what is new."""
