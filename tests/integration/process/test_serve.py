"""How a serving process ends."""

import asyncio
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import pytest

from tests.support.harness.service import Server, running, serving
from tests.support.waiting import until

STOP_S = 60
# Long enough for every client, also if the machine stands still for some seconds.
DELAY_S = 8
CLIENTS = 60


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Server]:
    with running(stopping_after(DELAY_S, database_url, tmp_path)) as server:
        yield server


def stopping_after(delay_s: int, database_url: str, folder: Path) -> Server:
    where = ("--data-dir", str(folder), "--database-url", database_url)
    delay = {"AGENT_RUNTIME_SHUTDOWN_DELAY_S": str(delay_s)}
    return serving(*where, log=folder / "log", settings=delay)


@pytest.mark.thorough
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


@dataclass(slots=True)
class Client:
    """Asks again and again, on a connection that stays open or on new ones.

    As a load balancer does, it leaves when it is told to close a connection.
    """

    port: int
    keeps_open: bool
    answered: int = 0
    told_to_close: bool = False

    async def ask_until_told_to_close(self) -> None:
        """Return when an answer says that its connection is closed.

        :raises OSError: a connection was refused, reset, or ended without an answer
        """
        while not self.told_to_close:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                await self._ask(reader, writer)
            finally:
                writer.close()

    async def _ask(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while not self.told_to_close:
            writer.write(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 "), head
            (length,) = re.findall(rb"Content-Length: (\d+)", head)
            await reader.readexactly(int(length))
            self.answered += 1
            self.told_to_close = b"Connection: close" in head
            if not self.keeps_open:
                return


@pytest.mark.thorough
async def test_clients_that_leave_when_told_to_are_all_answered(server: Server) -> None:
    port = urlsplit(server.url).port
    assert port is not None
    clients = [Client(port, keeps_open=bool(number % 2)) for number in range(CLIENTS)]
    asking = [asyncio.create_task(each.ask_until_told_to_close()) for each in clients]
    await until(lambda: all(client.answered for client in clients))

    server.send(signal.SIGTERM)
    await asyncio.gather(*asking)

    assert await asyncio.to_thread(server.wait, timeout_s=STOP_S) == 0


@pytest.mark.thorough
async def test_new_connections_are_answered_until_the_delay_ends(
    server: Server,
) -> None:
    url = urlsplit(server.url)
    started = time.monotonic()
    server.send(signal.SIGTERM)
    statuses: list[int] = []
    while True:
        connection = HTTPConnection(url.netloc, timeout=STOP_S)
        try:
            connection.request("GET", "/readyz")
            statuses.append(connection.getresponse().status)
        except (ConnectionRefusedError, ConnectionResetError):
            break
        connection.close()
    took = time.monotonic() - started

    assert statuses[-1] == 503
    assert took >= DELAY_S


def test_an_interrupt_at_a_terminal_takes_no_delay(
    database_url: str, tmp_path: Path
) -> None:
    # Longer than the wait for its end.
    with running(stopping_after(5 * STOP_S, database_url, tmp_path)) as server:
        server.send(signal.SIGINT)
        assert server.wait(timeout_s=STOP_S) == 0
