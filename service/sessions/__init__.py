"""Sessions, turns and their costs."""
