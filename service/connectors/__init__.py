"""Connectors, their publication, owners and grants."""
