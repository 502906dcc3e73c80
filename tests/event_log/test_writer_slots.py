"""No more processes write to a log than it gains from."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient
from psycopg import AsyncConnection

from projections.catalog import run_followers
from service.app import create_app
from service.errors import StartError
from service.event_log import writer_slots
from service.event_log.writer_slots import WRITERS_MAX, writer_slot
from service.resources import Resources
from tests.callers import Callers
from tests.harness.process import ProcessError
from tests.harness.service import running, serving
from tests.http_server import Server
from tests.waiting import until

HELD = """
    SELECT pid FROM pg_locks
     WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND ((classid::bigint << 32) | objid::bigint) IN (
           SELECT hashtextextended('agent-runtime writer ' || number, 0)
             FROM generate_series(0, 2) AS number)
     ORDER BY pid
"""


async def holders(owner: AsyncConnection) -> list[int]:
    return [row[0] for row in await (await owner.execute(HELD)).fetchall()]


async def test_one_writer_too_many_is_refused_until_another_one_ends(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_slots, "WAIT_S", 0.5)
    monkeypatch.setattr(writer_slots, "CHECK_S", 0.1)
    async with AsyncExitStack() as others:
        for _ in range(WRITERS_MAX - 1):
            await others.enter_async_context(writer_slot(database_url))
        async with writer_slot(database_url):
            with pytest.raises(StartError, match="--reads-only"):
                await others.enter_async_context(writer_slot(database_url))
        monkeypatch.undo()

        await others.enter_async_context(writer_slot(database_url))


async def test_a_slot_that_is_lost_with_its_connection_is_taken_again(
    database_url: str, owner: AsyncConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_slots, "CHECK_S", 0.1)
    async with writer_slot(database_url):
        before = await holders(owner)
        assert len(before) == 1

        await owner.execute("SELECT pg_terminate_backend(%s)", before)

        await until(lambda: taken_again(owner, before))


async def taken_again(owner: AsyncConnection, before: list[int]) -> bool:
    now = await holders(owner)
    return len(now) == 1 and now != before


@pytest.mark.thorough
async def test_a_process_that_would_be_one_too_many_exits_and_says_why(
    database_url: str, tmp_path: Path
) -> None:
    where = ("--data-dir", str(tmp_path), "--database-url", database_url)
    async with AsyncExitStack() as others:
        for _ in range(WRITERS_MAX):
            await others.enter_async_context(writer_slot(database_url))
        server = serving(*where, "--only", "api", log=tmp_path / "log")
        server.start()
        with pytest.raises(ProcessError, match="--reads-only"):
            await asyncio.to_thread(server.wait_until_ready)
        assert server.wait() == 1

        reader = serving(*where, "--only", "api", "--reads-only")
        with running(reader):
            assert reader.is_running


async def test_a_process_that_only_reads_refuses_commands(
    resources: Resources,
) -> None:
    async with (
        run_followers(resources.log, resources.database_url),
        TestClient(Server(create_app(resources, reads_only=True))) as client,
    ):
        ann = await Callers(resources, client).user("ann")
        await until(lambda: is_built(client, ann.token or ""))

        refused = await ann.post("/api/mcp/connectors", {"name": "x"})
        read = await ann.get("/api/users/me")

    assert (refused.status, refused.code) == (421, "reads_only")
    assert read.status == 200


async def is_built(client: TestClient, token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    async with client.get("/api/users/me", headers=headers) as response:
        return response.status == 200
