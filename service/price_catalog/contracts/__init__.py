"""Contract prices: terms and rates."""
