"""Imports of published price lists into the catalog."""
