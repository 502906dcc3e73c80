"""A Phoenix of the tests: started on loopback, stopped by its process id."""

import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import psutil
from aiohttp.test_utils import unused_port

from tests.support.harness.environment import installed_from
from tests.support.harness.process import Process, ProcessError
from tests.support.project import ROOT

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
LAUNCHER = Path(__file__).with_name("on_loopback.py")
START_TIMEOUT_S = 600.0
STOP_TIMEOUT_S = 10.0
POLL_S = 0.1
LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


@dataclass(frozen=True, slots=True)
class Phoenix:
    base_url: str
    pid: int
    token: str | None = None

    @property
    def traces_url(self) -> str:
        return f"{self.base_url}/v1/traces"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def ask(self, query: str, **variables: Any) -> Any:
        """Ask its GraphQL API and return the data."""
        answer = self.post("/graphql", {"query": query, "variables": variables})
        assert "errors" not in answer, answer
        return answer["data"]

    def post(self, path: str, body: Any) -> Any:
        request = urllib.request.Request(  # noqa: S310  # loopback
            self.base_url + path,
            orjson.dumps(body),
            {"Content-Type": "application/json", **self.headers},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            return orjson.loads(answer.read() or b"null")


def phoenix_python() -> Path:
    """Return the Python that has Phoenix, which is installed the first time.

    :raises MissingError: it can't be installed
    """
    return installed_from(REQUIREMENTS, ROOT / ".phoenix") / "bin/python"


@contextmanager
def running_phoenix(
    python: Path, folder: Path, *, secret: str | None = None
) -> Iterator[Phoenix]:
    """Run a Phoenix in a folder; with a secret, only its bearers are let in."""
    port = unused_port()
    settings = {
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(unused_port()),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
        "PHOENIX_ENABLE_MCP_SERVER": "false",
    }
    if secret is not None:
        settings |= {
            "PHOENIX_ENABLE_AUTH": "true",
            "PHOENIX_SECRET": "0123456789abcdef0123456789abcdef",
            "PHOENIX_ADMIN_SECRET": secret,
        }
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "LANG")
        if name in os.environ
    }
    process = Process(
        [python, LAUNCHER, "serve"],
        folder / "log",
        environment=kept | settings,
        folder=folder,
    )
    process.start()
    try:
        _wait(process, f"http://127.0.0.1:{port}/healthz")
        assert addresses(process.pid) <= LOOPBACK
        yield Phoenix(f"http://127.0.0.1:{port}", process.pid, secret)
    finally:
        process.stop(timeout_s=STOP_TIMEOUT_S)


def addresses(pid: int) -> set[str]:
    """Return the IP addresses that a process listens on."""
    return {
        connection.laddr.ip
        for connection in psutil.Process(pid).net_connections(kind="tcp")
        if connection.status == psutil.CONN_LISTEN
    }


def _wait(process: Process, url: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.is_running and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=10):  # noqa: S310  # loopback
                return
        except (urllib.error.URLError, OSError):
            time.sleep(POLL_S)
    raise ProcessError(f"Phoenix doesn't start: {process.log_tail()}")
