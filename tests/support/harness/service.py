"""Processes that serve, and commands of ``agent-runtime``."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.harness.process import Process, ProcessError

READY = re.compile(r"\bready at (http://[^\s,]+)(?:, token of \S+ in (\S+))?")
AGENT_RUNTIME: Sequence[str] = (sys.executable, "-m", "service")


class Server(Process):
    """A process that writes ``ready at URL`` to standard output when it serves."""

    url: str
    token_file: Path | None

    def start(self, *, stdout: int | None = subprocess.PIPE) -> None:
        super().start(stdout=stdout)

    def wait_until_ready(self) -> None:
        """Wait for the line that says where it serves.

        :raises ProcessError: it ended instead
        """
        assert self.popen is not None
        assert self.popen.stdout is not None
        ready = READY.search(line := self.popen.stdout.readline())
        if ready is None:
            raise ProcessError(f"not ready: {line}{self.log_tail()}")
        self.url = ready[1]
        self.token_file = Path(ready[2]) if ready[2] else None

    @property
    def admin_token(self) -> str:
        assert self.token_file is not None
        return self.token_file.read_text().strip()


def own_environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a process: ours, but with these settings alone."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("AGENT_RUNTIME_")
    }
    # No load balancer has to notice that the process stops.
    kept |= {"PYTHONUNBUFFERED": "1", "AGENT_RUNTIME_SHUTDOWN_DELAY_S": "0"}
    return kept | dict(settings or {})


def serving(
    *options: str,
    log: Path | None = None,
    program: Sequence[str] = AGENT_RUNTIME,
    port: int = 0,
    settings: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Server:
    """Return ``agent-runtime serve``, not started yet."""
    return Server(
        [*program, "serve", "--port", str(port), *options],
        log,
        environment=own_environment(settings),
        folder=folder,
    )


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Start it, wait until it is ready, and stop it when the block ends."""
    server.start()
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


def agent_runtime(
    *arguments: str,
    program: Sequence[str] = AGENT_RUNTIME,
    settings: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end."""
    return subprocess.run(
        [*program, *arguments],
        env=own_environment(settings),
        capture_output=True,
        text=True,
        check=False,
    )


async def audit(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return await asyncio.to_thread(agent_runtime, "audit", *arguments)
