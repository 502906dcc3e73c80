"""How a serving process ends."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import orjson
import pytest

STOP_S = 30


@pytest.fixture
def serving(
    database_url: str, tmp_path: Path
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and where it listens."""
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "service", "serve", "--port", "0"),
            *("--data-dir", str(tmp_path), "--database-url", database_url),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        ready = re.search(r"ready at http://([^,\s]+)", process.stdout.readline())
        try:
            assert ready
            yield process, ready[1]
        finally:
            process.kill()


def test_a_client_on_an_open_connection_is_told_that_the_service_ends(
    serving: tuple[subprocess.Popen[str], str],
) -> None:
    process, address = serving
    connection = HTTPConnection(address, timeout=STOP_S)
    connection.request("GET", "/readyz")
    before = connection.getresponse()
    assert (before.status, before.getheader("Connection")) == (200, None)
    before.read()

    process.send_signal(signal.SIGTERM)
    status = 200
    while status == 200:  # the signal takes a moment
        connection.request("GET", "/readyz")
        reply = connection.getresponse()
        status, body = reply.status, orjson.loads(reply.read())

    assert (status, body["data"]["status"]) == (503, "draining")
    assert reply.getheader("Connection") == "close"
    assert process.wait(STOP_S) == 0
