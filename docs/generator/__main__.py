"""Generates the reference pages of docs/ from the code: ``make contract``."""

from pathlib import Path

from docs.generator.write import write

write(Path.cwd())
