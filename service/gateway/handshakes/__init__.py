"""Handshakes with a secret, on record."""
