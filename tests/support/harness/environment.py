"""Peers in environments of their own: their requirements are many and strict."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.project import ROOT

INSTALL = ROOT / "deploy/install-lock.sh"
INSTALL_TIMEOUT_S = 900


class MissingError(Exception):
    """A peer isn't installed, and can't be."""


def installed_from(lock_file: Path, folder: Path) -> Path:
    """Return a virtual environment with all that a lock file lists.

    It is made in ``folder`` once for each state of the file.

    :raises MissingError: it can't be installed
    """
    environment = folder / "venv"
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / "installed"
    wanted = hashlib.sha256(lock_file.read_bytes()).hexdigest()
    # Test workers start at the same moment; the first one installs for all.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists() or marker.read_text() != wanted:
            # What an older lock file left behind must not be found.
            marker.unlink(missing_ok=True)
            shutil.rmtree(environment, ignore_errors=True)
            _install(environment, lock_file)
            marker.write_text(wanted)
    return environment


def _install(environment: Path, lock_file: Path) -> None:
    try:
        subprocess.run(
            [INSTALL, environment, lock_file],
            check=True,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_S,
            env={**os.environ, "PYTHON": sys.executable},
        )
    except subprocess.CalledProcessError as error:
        raise MissingError((error.stdout + error.stderr)[-500:]) from None
    except subprocess.TimeoutExpired as error:
        raise MissingError(str(error)) from None
