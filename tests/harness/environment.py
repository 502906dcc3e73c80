"""Peers in environments of their own: their requirements are many and strict."""

import subprocess
import sys
from pathlib import Path

INSTALL_TIMEOUT_S = 900


class MissingError(Exception):
    """A peer isn't installed, and can't be."""


def installed(requirement: str, folder: Path) -> Path:
    """Return a folder with a virtual environment, into which it is installed once.

    :raises MissingError: the package index doesn't have it
    """
    marker = folder / "installed"
    if marker.exists() and marker.read_text() == requirement:
        return folder
    pip = str(folder / "bin/pip")
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [pip, "install", "--quiet", requirement],
    ):
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
    marker.write_text(requirement)
    return folder
