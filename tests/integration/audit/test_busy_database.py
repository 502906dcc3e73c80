"""Streams and exports that find no free connection wait, and lose nothing."""

import asyncio
import logging
import re
from typing import Any

import pytest
from aiohttp import ClientError

from projections.audit.trail.queries import Found, entries_found
from service import unavailable
from service.connection_pool import POOL_SIZE_MAX
from service.database import Db
from service.http.streaming import STREAMS
from service.resources import Resources
from tests.support.audit.reading import opened
from tests.support.callers import Caller, Callers
from tests.support.waiting import TIMEOUT_S, until

SHORT_S = 0.1
# Where each reads its batches.
READ_BY = {
    "stream?after=0": "projections.audit.trail.live",
    "export.jsonl": "projections.audit.trail.export",
}
POSITION = re.compile(r'^data: .*"position":(\d+)|^\{"position":(\d+)', re.MULTILINE)


@pytest.fixture
async def auditor(callers: Callers) -> Caller:
    """One of some users, so that what is read has several batches."""
    for number in range(6):
        await callers.user(f"user{number}")
    return await callers.user("olga", "auditor")


class Interrupted:
    """All connections are taken as soon as an answer has read its second batch."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._queries = 0
        self._taking: list[asyncio.Task[Db]] = []
        self.began = asyncio.Event()

    async def entries_found(self, *given: Any, **options: Any) -> Found:
        self._queries += 1
        if self._queries == 2:
            pool = self._resources.pool
            self._taking = [
                asyncio.create_task(pool.getconn(TIMEOUT_S))
                for _ in range(POOL_SIZE_MAX)
            ]
            # The last one gets the connection that this is read on.
            await until(
                lambda: sum(each.done() for each in self._taking) == POOL_SIZE_MAX - 1
            )
            pool.timeout = SHORT_S
            self.began.set()
        return await entries_found(*given, **options)

    async def end(self) -> None:
        """Let others have connections again."""
        self._resources.pool.timeout = TIMEOUT_S
        for each in self._taking:
            await self._resources.pool.putconn(await each)


async def until_waiting(caplog: pytest.LogCaptureFixture) -> None:
    """Return when an answer under way has found no free connection."""
    await until(
        lambda: any(each.name == unavailable.__name__ for each in caplog.records)
    )


@pytest.mark.parametrize("path", READ_BY)
@pytest.mark.parametrize("is_cached", [True, False])
async def test_an_answer_under_way_goes_on_after_a_busy_pool(
    auditor: Caller,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    path: str,
    *,
    is_cached: bool,
) -> None:
    """Whether its caller may still read is asked of the database, or of the cache."""
    interrupted = Interrupted(resources)
    monkeypatch.setattr(f"{READ_BY[path]}.BATCH_ENTRIES", 3)
    monkeypatch.setattr(f"{READ_BY[path]}.entries_found", interrupted.entries_found)
    monkeypatch.setattr(unavailable, "RETRY_S", SHORT_S)
    head = (await resources.log.head()).position

    def found() -> list[int]:
        return [int(live or line) for live, line in POSITION.findall(sent)]

    sent = ""
    async with opened(auditor, f"/api/audit/{path}") as response:
        async with asyncio.timeout(TIMEOUT_S):
            await interrupted.began.wait()
        if not is_cached:
            resources.log.cache.clear()
        await until_waiting(caplog)
        await interrupted.end()
        async with asyncio.timeout(TIMEOUT_S):
            while len(found()) < head:
                line = await response.content.readline()
                assert line, "the answer has ended"
                sent += line.decode()

    assert found() == [*range(1, head + 1)]
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []


async def test_a_stream_that_waits_ends_when_the_service_stops(
    auditor: Caller,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    interrupted = Interrupted(resources)
    live = READ_BY["stream?after=0"]
    monkeypatch.setattr(f"{live}.BATCH_ENTRIES", 3)
    monkeypatch.setattr(f"{live}.entries_found", interrupted.entries_found)
    monkeypatch.setattr(unavailable, "RETRY_S", SHORT_S)

    async with opened(auditor, "/api/audit/stream?after=0") as response:
        await until_waiting(caplog)
        await auditor.client.app[STREAMS].close()
        async with asyncio.timeout(TIMEOUT_S):
            with pytest.raises(ClientError):
                await response.content.read()
    await interrupted.end()

    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []
