"""Whether the tools of a connector can be listed."""
