"""The list of connectors."""
