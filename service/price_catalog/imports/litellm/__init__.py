"""Importer of LiteLLM price files."""
