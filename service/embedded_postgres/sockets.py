"""The private folder of the embedded PostgreSQL's Unix socket."""

import os
import re
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

SOCKET_NAME: Final = ".s.PGSQL.5432"
FILE_NAMES: Final = (SOCKET_NAME, f"{SOCKET_NAME}.lock")
PREFIX: Final = "agent-runtime-"
FOLDER_NAME: Final = re.compile(PREFIX + "[a-z0-9_]{8}")
# The shortest of the platforms' limits is that of macOS.
SOCKET_PATH_BYTES_MAX: Final = 103
# PostgreSQL's settings and connection strings give other characters a meaning.
PLAIN_PATH: Final = re.compile(r"[\w/.+-]+", re.ASCII)
# A server that starts has no socket yet.
START_S_MAX: Final = 600.0
# Then it has one on which it doesn't listen yet.
LISTEN_S_MAX: Final = 60.0


def make_socket_folder() -> Path:
    """Make a folder in the temporary one, or in /tmp if that has a long or odd path.

    What services left there that were killed is removed.
    """
    parent = tempfile.gettempdir()
    longest = Path(parent, f"{PREFIX}12345678", SOCKET_NAME)
    if (
        len(os.fsencode(longest)) > SOCKET_PATH_BYTES_MAX
        or PLAIN_PATH.fullmatch(parent) is None
    ):
        parent = "/tmp"  # noqa: S108 - the folder made in it is private and unpredictable
    _remove_abandoned(Path(parent))
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))


def remove_socket_folder(link: Path) -> None:
    """Remove a link, and its folder unless that is in use or holds other files.

    The link of a copied data folder leads to the folder of the original's server.
    """
    with suppress(OSError):
        folder = link.readlink()
        if not _is_answered(folder):
            _remove(folder)
    link.unlink(missing_ok=True)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if FOLDER_NAME.fullmatch(folder.name) and _is_abandoned(folder):
                _remove(folder)


def _is_abandoned(folder: Path) -> bool:
    if (folder / SOCKET_NAME).exists():
        made_at = (folder / SOCKET_NAME).lstat().st_mtime
        return time.time() - made_at > LISTEN_S_MAX and not _is_answered(folder)
    return time.time() - folder.lstat().st_mtime > START_S_MAX


def _is_answered(folder: Path) -> bool:
    """Tell whether a server listens, of whatever process and container.

    :raises OSError: that can't be told
    """
    with socket.socket(socket.AF_UNIX) as connection:
        # Never in the way of a server with many clients.
        connection.settimeout(0)
        try:
            connection.connect(str(folder / SOCKET_NAME))
        except BlockingIOError:
            return True
        except (ConnectionRefusedError, FileNotFoundError):
            return False
    return True


def _remove(folder: Path) -> None:
    # Not by path: the folder's owner could put a link in its place.
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for name in FILE_NAMES:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=opened)
        folder.rmdir()
    finally:
        os.close(opened)
