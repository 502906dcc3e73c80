"""How a serving process ends."""

import signal
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import pytest

from tests.harness.service import Server, running, serving

STOP_S = 60


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Server]:
    where = ("--data-dir", str(tmp_path), "--database-url", database_url)
    with running(serving(*where, log=tmp_path / "log")) as server:
        yield server


def test_a_client_on_an_open_connection_is_told_that_the_service_ends(
    server: Server,
) -> None:
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=STOP_S)
    connection.request("GET", "/readyz")
    before = connection.getresponse()
    assert (before.status, before.getheader("Connection")) == (200, None)
    before.read()

    server.send(signal.SIGTERM)
    status = 200
    while status == 200:  # the signal takes a moment
        connection.request("GET", "/readyz")
        reply = connection.getresponse()
        status, body = reply.status, orjson.loads(reply.read())

    assert (status, body["data"]["status"]) == (503, "draining")
    assert reply.getheader("Connection") == "close"
    assert server.wait(timeout_s=STOP_S) == 0
