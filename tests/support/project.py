"""The folder of the whole project."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
