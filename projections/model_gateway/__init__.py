"""Lists of connections and presets, and how agents' calls are routed."""
