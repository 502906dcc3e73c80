"""The private folder of the embedded PostgreSQL's Unix socket."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

SOCKET_NAME = ".s.PGSQL.5432"
# The shortest of the platforms' limits is that of macOS.
SOCKET_PATH_BYTES_MAX = 103


def make_socket_folder() -> Path:
    """Make a folder, in the temporary one, or in /tmp when that has a long path."""
    parent = tempfile.gettempdir()
    longest = Path(parent, "agent-runtime-12345678", SOCKET_NAME)
    if len(os.fsencode(longest)) > SOCKET_PATH_BYTES_MAX:
        parent = "/tmp"  # noqa: S108 - the folder made in it is private and unpredictable
    return Path(tempfile.mkdtemp(prefix="agent-runtime-", dir=parent))


def remove_socket_folder(link: Path) -> None:
    """Remove a link and its folder, unless that holds more than a socket."""
    with suppress(OSError):
        folder = link.readlink()
        for name in (SOCKET_NAME, f"{SOCKET_NAME}.lock"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
    link.unlink(missing_ok=True)
