"""Where Phoenix is installed: outside git, in an environment of its own."""

import fcntl
import hashlib
import os
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
INSTALL = ROOT / ".ci" / "phoenix"
INSTALL_TIMEOUT_S = 900


class MissingError(Exception):
    """Phoenix isn't here."""


def phoenix_python() -> Path:
    """Return the Python that has Phoenix; in CI it is installed first."""
    folder = Path(os.environ.get("PHOENIX_FOLDER", ROOT / ".phoenix"))
    folder.mkdir(exist_ok=True)
    # Test workers start at the same moment; the first one installs for all.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_installed(folder):
            if not os.environ.get("CI"):
                raise MissingError("install it with: make test-phoenix")
            _install(folder)
    return folder / "venv" / "bin" / "python"


def go_without_phoenix(missing: MissingError) -> NoReturn:
    """Skip, but never in CI: there it would go unnoticed for ever."""
    complaint = f"NOT TESTED on a real Phoenix: {missing}"
    if os.environ.get("CI"):
        pytest.fail(complaint)
    pytest.skip(complaint)


def _is_installed(folder: Path) -> bool:
    marker = folder / "installed"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    return marker.exists() and marker.read_text().strip() == wanted


def _install(folder: Path) -> None:
    done = subprocess.run(
        [INSTALL, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_TIMEOUT_S,
    )
    if done.returncode:
        raise MissingError(f"it can't be installed: {done.stderr[-500:]}")
