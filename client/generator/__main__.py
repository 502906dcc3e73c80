"""Generates the client from the OpenAPI document: ``make contract``."""

from pathlib import Path

from client.generator.write import write

write(Path.cwd())
