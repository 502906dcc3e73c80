"""The registry of tiers: for each name a preset, for all agents."""
