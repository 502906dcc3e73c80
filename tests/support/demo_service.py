"""A service with demo data, started as `make serve` does, and a shell beside it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.harness.service import own_environment, running, serving
from tests.support.project import ROOT
from tests.support.terminal import open_terminal

DOCUMENTED_URL = "http://127.0.0.1:8080"
TIMEOUT_S = 300


@dataclass(frozen=True)
class DemoService:
    url: str
    folder: Path
    environment: dict[str, str]
    on_terminal: bool = False

    @property
    def admin_token(self) -> str:
        return (self.folder / "data/admin-token").read_text("ascii").strip()

    def run(self, script: str) -> str:
        """Run a documented script in the service's folder and return its output.

        On a terminal, that is all it shows.
        """
        command = ["sh", "-e", "-c", script.replace(DOCUMENTED_URL, self.url)]
        if self.on_terminal:
            return self._run_on_terminal(command)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def _run_on_terminal(self, command: list[str]) -> str:
        with open_terminal() as terminal:
            done = subprocess.run(
                command,
                stdin=terminal.device,
                stdout=terminal.device,
                stderr=terminal.device,
                cwd=self.folder,
                env=self.environment,
                check=False,
                timeout=TIMEOUT_S,
            )
        assert done.returncode == 0, terminal.shown
        return terminal.shown


@contextmanager
def demo_service(folder: Path) -> Iterator[DemoService]:
    """Run the service on a free port, with its data in ``folder``/data."""
    server = serving("--demo", log=folder / "log", folder=folder)
    environment = with_curl(own_environment(), folder)
    with running(server):
        yield DemoService(server.url, folder, environment)
    assert server.wait() == 0


def with_curl(environment: dict[str, str], folder: Path) -> dict[str, str]:
    """Return an environment with curl, made in ``folder``, and this one's programs."""
    programs = folder / "programs"
    programs.mkdir()
    curl = programs / "curl"
    # -P: its neighbour tests/support/secrets would hide the library's secrets.
    curl.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -P "{ROOT}/tests/support/curl.py" "$@"\n'
    )
    curl.chmod(0o700)
    path = [str(programs), str(Path(sys.executable).parent), environment["PATH"]]
    return environment | {"PATH": ":".join(path)}
