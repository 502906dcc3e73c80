"""Presets: named choices of the connection and model that answer a call."""
