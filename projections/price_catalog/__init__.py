"""Providers with effective prices."""
