"""Writers who keep replacing something while the grants that it needs come and go."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp.test_utils import TestClient, TestServer

from service.app import create_app
from service.open_resources import open_resources
from service.resources import Resources
from tests.support.callers import Caller, Reply

WRITERS: Final = 6

Replace = Callable[[int, int], Awaitable[Reply]]
"""Takes the turn of its writer, and a number that no other replacement has."""


class GrantRace:
    """Replaces while grants, by their paths, are revoked and made so many times each.

    ``statuses`` counts the answers of replacements, ``positions`` are of those that
    were accepted.
    """

    def __init__(self, grants: Sequence[str], *, times: int) -> None:
        self.statuses: Counter[int] = Counter()
        self.positions: list[int] = []
        self._grants = grants
        self._times = times
        self._numbers = itertools.count()
        self._answers: asyncio.Queue[int] = asyncio.Queue()
        self._running = True

    async def run(self, *, replace: Replace, granter: Caller) -> None:
        writers = [
            asyncio.create_task(self._write(replace, first)) for first in range(WRITERS)
        ]
        await asyncio.gather(
            *(self._come_and_go(granter, each) for each in self._grants)
        )
        self._running = False
        await asyncio.gather(*writers)

    async def _come_and_go(self, granter: Caller, path: str) -> None:
        for _ in range(self._times):
            # Waiting for an answer lets writers in; the others are on their way.
            await self._answers.get()
            assert (await granter.delete(path)).status == 200
            await self._answers.get()
            assert (await granter.put(path)).status in {200, 201}

    async def _write(self, replace: Replace, first: int) -> None:
        for turn in itertools.count(first):
            if not self._running:
                return
            reply = await replace(turn, next(self._numbers))
            self.statuses[reply.status] += 1
            self._answers.put_nowait(reply.status)
            if reply.status == 200:
                self.positions.append(reply.position)


@asynccontextmanager
async def second_process(
    resources: Resources, folder: Path
) -> AsyncIterator[TestClient]:
    """The API of a second process on the same log, with a cache of its own."""
    async with (
        open_resources(resources.database_url, folder) as opened,
        TestClient(TestServer(create_app(opened))) as client,
    ):
        yield client
