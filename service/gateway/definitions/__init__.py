"""Definitions of tools, compared and accepted."""
