"""Peers in environments of their own: their requirements are many and strict."""

import fcntl
import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

INSTALL_TIMEOUT_S = 900


class MissingError(Exception):
    """A peer isn't installed, and can't be."""


def installed(requirements: str, folder: Path) -> Path:
    """Return a folder with a virtual environment, into which they are installed once.

    ``requirements`` are separated by spaces.

    :raises MissingError: the package index doesn't have one
    """
    return _installed(requirements.split(), requirements, folder)


def installed_from(requirements: Path, folder: Path) -> Path:
    """Return likewise one with all that a lock file with hashes lists.

    :raises MissingError: the package index doesn't have it
    """
    return _installed(
        ["--require-hashes", "-r", str(requirements)],
        hashlib.sha256(requirements.read_bytes()).hexdigest(),
        folder,
    )


def _installed(options: Sequence[str], version: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / "installed"
    # Test workers start at the same moment; the first one installs for all.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists() or marker.read_text() != version:
            marker.unlink(missing_ok=True)
            _run(sys.executable, "-m", "venv", str(folder))
            pip = str(folder / "bin/pip")
            _run(pip, "install", "--quiet", "--disable-pip-version-check", *options)
            marker.write_text(version)
    return folder


def _run(*command: str) -> None:
    try:
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_S,
        )
    except subprocess.CalledProcessError as error:
        raise MissingError(error.stderr[-500:]) from None
    except subprocess.TimeoutExpired as error:
        raise MissingError(str(error)) from None
