"""Grants that are revoked while a routing is replaced, judged by the log's order."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from aiohttp.test_utils import TestClient, TestServer

from service.app import create_app
from service.event_log.mapper import RecordedEvent
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.routing.aggregate import ModelRouting
from service.open_resources import open_resources
from service.resources import Resources
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    grant_path,
    granted,
    new_preset,
    put_routing,
    to_preset,
)
from tests.support.reading import read_events

pytestmark = pytest.mark.thorough

REVOCATIONS = 90
PRESETS = 3
WRITERS = 6
EVENTS_MAX = 100_000


@pytest.fixture
async def other_process(
    resources: Resources, tmp_path: Path
) -> AsyncIterator[TestClient]:
    """The API of a second process on the same log, with a cache of its own."""
    async with (
        open_resources(resources.database_url, tmp_path) as opened,
        TestClient(TestServer(create_app(opened))) as client,
    ):
        yield client


class Race:
    """A manager who keeps replacing a routing while grants come and go."""

    def __init__(self, agent: UUID, presets: list[str]) -> None:
        self.agent = agent
        self.presets = presets
        self.statuses: Counter[int] = Counter()
        self.positions: list[int] = []
        self._numbers = itertools.count()
        self._answers: asyncio.Queue[int] = asyncio.Queue()
        self._running = True

    async def run(self, *, writer: Caller, granter: Caller) -> None:
        writers = [
            asyncio.create_task(self._write(writer, first)) for first in range(WRITERS)
        ]
        await asyncio.gather(
            *(self._come_and_go(granter, each) for each in self.presets)
        )
        self._running = False
        await asyncio.gather(*writers)

    async def _come_and_go(self, granter: Caller, preset: str) -> None:
        path = grant_path(preset, self.agent)
        for _ in range(REVOCATIONS // PRESETS):
            # Waiting for an answer lets writers in; the others are on their way.
            await self._answers.get()
            assert (await granter.delete(path)).status == 200
            await self._answers.get()
            assert (await granter.put(path)).status == 200

    async def _write(self, writer: Caller, first: int) -> None:
        for turn in itertools.count(first):
            if not self._running:
                return
            # A route to one of them, and a tier of another or the same.
            named = self.presets[turn % PRESETS]
            tier = self.presets[turn * (turn % 2) % PRESETS]
            reply = await put_routing(
                writer,
                self.agent,
                to_preset(f"m{next(self._numbers)}", named),
                tiers={"own": tier},
            )
            self.statuses[reply.status] += 1
            self._answers.put_nowait(reply.status)
            if reply.status == 200:
                self.positions.append(reply.position)


def accepted_without_a_grant(log: list[RecordedEvent]) -> tuple[list[int], list[int]]:
    """Return the positions of all replacements, and of those nobody had granted."""
    lent: set[UUID] = set()
    replaced: list[int] = []
    wrong: list[int] = []
    for recorded in log:
        match recorded.event:
            case ModelPreset.GrantedToAgent():
                lent.add(recorded.aggregate_id)
            case ModelPreset.GrantRevoked():
                lent.discard(recorded.aggregate_id)
            case ModelRouting.Replaced(terms=terms):
                replaced.append(recorded.position)
                named = {each["preset_id"] for each in terms["routes"]}
                if not {UUID(each) for each in named | {*terms["tiers"].values()}} <= (
                    lent
                ):
                    wrong.append(recorded.position)
    return replaced, wrong


@pytest.mark.parametrize("processes", [1, 2])
async def test_no_routing_is_accepted_on_a_revoked_grant(
    ada: Caller,
    owner: Caller,
    agent: UUID,
    connection: str,
    resources: Resources,
    other_process: TestClient,
    processes: int,
) -> None:
    presets = [await new_preset(owner, connection) for _ in range(PRESETS)]
    for each in presets:
        await granted(owner, each, agent)
    race = Race(agent, presets)
    granter = owner
    if processes == 2:
        granter = Caller(other_process, owner.token, owner.user_id)

    await race.run(writer=ada, granter=granter)

    log = await read_events(resources.log, limit=EVENTS_MAX)
    replaced, wrong = accepted_without_a_grant(log)
    assert wrong == []
    assert sorted(race.positions) == replaced
    revoked = sum(isinstance(each.event, ModelPreset.GrantRevoked) for each in log)
    assert revoked == REVOCATIONS
    # Otherwise nothing would have been raced.
    assert set(race.statuses) <= {200, 409, 422}
    assert min(race.statuses[200], race.statuses[422]) >= 20
