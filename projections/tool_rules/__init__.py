"""Rules of agents, and explained decisions."""
