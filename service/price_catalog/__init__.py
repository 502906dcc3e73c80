"""Providers, models and prices."""
