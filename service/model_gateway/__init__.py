"""Which models agents may call: connections, presets, tiers and agents' routing."""
