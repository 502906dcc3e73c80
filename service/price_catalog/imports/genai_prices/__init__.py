"""Importer of the prices inside the genai-prices package."""
