"""An external PostgreSQL is restarted while many clients write and read."""

import asyncio
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import psycopg
import pytest

from tests.instruments.faults.checks import Findings
from tests.instruments.faults.checks.tables import check_tables
from tests.support.audit.reading import until_signed
from tests.support.harness import replicated_postgres
from tests.support.harness.http_connection import HttpConnection, Reply
from tests.support.harness.replicated_postgres import primary_server
from tests.support.harness.service import Server, running, serving
from tests.support.recovered_service import head, until_followed, until_ready
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

CLIENTS = 16
SOME = 60
RESTARTS = 2
AGENTS = "/api/catalog/agents"
# No answer takes longer, says docs/reliability.md.
ANSWER_BOUND_S = 30.0
# Of docs/api.md, section Waits.
CODES = {
    "unavailable",
    "outcome_unknown",
    "overloaded",
    "database_busy",
    "database_locked",
    "database_slow",
}
CODES_OF_READS = CODES - {"outcome_unknown", "overloaded"} | {"position_not_reached"}
REGISTERED = """
    SELECT convert_from(state, 'UTF8')::json ->> 'name', originator_id::text
      FROM events.stored_event WHERE topic = 'agent.registered'
"""
SHUTTING_DOWN = "the database system is shutting down"


@dataclass(slots=True)
class Load:
    """``acknowledged`` has the id of each agent that was answered as registered."""

    port: int
    token: str
    stopping: bool = False
    acknowledged: dict[str, str] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(self._write_and_read(number))

    async def go_on(self, running: "asyncio.Task[None]") -> None:
        """Wait until some more have been acknowledged."""
        await self._until_more(running, lambda: len(self.acknowledged), SOME)

    async def be_refused(self, running: "asyncio.Task[None]") -> None:
        """Wait until the service has said often that it can't reach the database."""
        await self._until_more(running, self.refusals.total, 2 * CLIENTS)

    async def _until_more(
        self, running: "asyncio.Task[None]", count: Callable[[], int], more: int
    ) -> None:
        goal = count() + more
        await until(lambda: running.done() or count() >= goal)
        if running.done():
            await running

    async def _write_and_read(self, client: int) -> None:
        connection = HttpConnection(self.port)
        number = 0
        while not self.stopping:
            number += 1
            name = f"agent {client}/{number}"
            registered = await self._until_registered(connection, name)
            self.acknowledged[name] = orjson.loads(registered.body)["data"]["id"]
            await self._read_back(connection, name, registered)
        again = await self._until_registered(connection, name)
        assert again.body == registered.body
        connection.close()

    async def _until_registered(self, connection: HttpConnection, name: str) -> Reply:
        """Send one request, with one key, until it is acknowledged."""
        while True:
            reply = await self._send(
                connection,
                "POST",
                AGENTS,
                {"Idempotency-Key": name, "Content-Type": "application/json"},
                orjson.dumps({"name": name}),
            )
            if reply.status == 201:
                return reply
            await self._wait_after(reply, CODES)

    async def _read_back(
        self, connection: HttpConnection, name: str, registered: Reply
    ) -> None:
        path = f"{AGENTS}/{self.acknowledged[name]}"
        positions = ("x-event-position", "x-log-epoch")
        least, epoch = (registered.headers[each] for each in positions)
        while True:
            seen = {"X-Min-Position": least, "X-Log-Epoch": epoch}
            reply = await self._send(connection, "GET", path, seen)
            if reply.status == 200:
                assert orjson.loads(reply.body)["data"]["name"] == name
                return
            await self._wait_after(reply, CODES_OF_READS)

    async def _send(
        self,
        connection: HttpConnection,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes = b"",
    ) -> Reply:
        headers = {"Authorization": f"Bearer {self.token}", **headers}
        return await connection.request(
            method, path, headers, body, timeout_s=ANSWER_BOUND_S
        )

    async def _wait_after(self, refused: Reply, codes: set[str]) -> None:
        code = orjson.loads(refused.body)["data"]["code"]
        assert (refused.status, code in codes) == (503, True), refused
        self.refusals[code] += 1
        await asyncio.sleep(0.05)


@pytest.fixture
def postgres_server() -> Iterator[replicated_postgres.Server]:
    with primary_server("restarted") as server:
        yield server


@pytest.fixture
def service(
    postgres_server: replicated_postgres.Server, data_dir: Path, tmp_path: Path
) -> Iterator[Server]:
    where = ("--database-url", postgres_server.url, "--data-dir", str(data_dir))
    with running(serving(*where, log=tmp_path / "service.log")) as service:
        yield service


@pytest.mark.parametrize("mode", ["smart", "fast", "immediate"])
async def test_each_acknowledged_command_is_there_once(
    postgres_server: replicated_postgres.Server, service: Server, mode: str
) -> None:
    port = urlsplit(service.url).port
    assert port is not None
    load = Load(port, service.admin_token)
    writing = asyncio.create_task(load.run())
    await load.go_on(writing)
    _, epoch = head(postgres_server.url)

    for _ in range(RESTARTS):
        if mode == "smart":
            await asyncio.to_thread(expect_to_be_waited_for, postgres_server)
            await load.go_on(writing)
        harder = "fast" if mode == "smart" else mode
        await asyncio.to_thread(postgres_server.stop, harder)
        await load.be_refused(writing)
        await asyncio.to_thread(postgres_server.start)
        await load.go_on(writing)
    await asyncio.to_thread(until_ready, service.url)
    load.stopping = True
    await writing

    rows = postgres_server.execute(REGISTERED, replicated_postgres.DATABASE)
    assert sorted(rows) == sorted(load.acknowledged.items())
    assert head(postgres_server.url)[1] == epoch
    position = head(postgres_server.url)[0]
    await asyncio.to_thread(until_followed, postgres_server.url)
    await asyncio.to_thread(until_signed, service.url, load.token, position)
    assert service.is_running
    await asyncio.to_thread(service.stop)
    findings = Findings()
    await check_tables(postgres_server.url, findings)
    assert findings == []


def expect_to_be_waited_for(server: replicated_postgres.Server) -> None:
    """Smart mode takes in nobody, and waits for the service, which doesn't leave."""
    with pytest.raises(subprocess.CalledProcessError):
        server.stop("smart", "--timeout=1")
    with pytest.raises(psycopg.OperationalError, match=SHUTTING_DOWN):
        server.execute("SELECT 1")
