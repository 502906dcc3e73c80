"""Archives of this project, and of packages whose digests were compared."""

import tarfile
from pathlib import Path
from typing import Any, Final

# Python has it from 3.11.4 on; Debian 12 has 3.11.2.
SAFELY: Final[dict[str, Any]] = (
    {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
)


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **SAFELY)  # noqa: S202 # see above
