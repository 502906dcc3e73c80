"""Encrypted secrets of users."""
