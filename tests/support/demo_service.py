"""A service with demo data, started as `make serve` does, and a shell beside it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.harness.service import own_environment, running, serving
from tests.support.project import ROOT

DOCUMENTED_URL = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class DemoService:
    url: str
    folder: Path
    environment: dict[str, str]

    @property
    def admin_token(self) -> str:
        return (self.folder / "data/admin-token").read_text("ascii").strip()

    def run(self, script: str) -> str:
        """Run a documented script in the service's folder and return its output."""
        done = subprocess.run(
            ["sh", "-e", "-c", script.replace(DOCUMENTED_URL, self.url)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


@contextmanager
def demo_service(folder: Path) -> Iterator[DemoService]:
    """Run the service on a free port, with its data in ``folder``/data."""
    programs = folder / "programs"
    programs.mkdir()
    curl = programs / "curl"
    # -P: its neighbour tests/support/secrets would hide the library's secrets.
    curl.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -P "{ROOT}/tests/support/curl.py" "$@"\n'
    )
    curl.chmod(0o700)
    server = serving("--demo", log=folder / "log", folder=folder)
    environment = own_environment()
    environment["PATH"] = ":".join(
        [str(programs), str(Path(sys.executable).parent), environment["PATH"]]
    )
    with running(server):
        yield DemoService(server.url, folder, environment)
    assert server.wait() == 0
