"""Grants that are revoked while rules are replaced, judged by the order of the log."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from aiohttp.test_utils import TestClient, TestServer

from service.app import create_app
from service.connectors.aggregate import Connector
from service.event_log.mapper import RecordedEvent
from service.open_resources import open_resources
from service.resources import Resources
from service.tool_rules.aggregate import ToolRules
from tests.support.callers import Caller, Callers
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting, put, rule

pytestmark = pytest.mark.thorough

REVOCATIONS = 210
CONNECTORS = 3
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
    """Owners who keep replacing rules while their grants come and go."""

    def __init__(self, agent: UUID, connectors: list[UUID]) -> None:
        self.agent = agent
        self.connectors = connectors
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
            *(self._come_and_go(granter, each) for each in self.connectors)
        )
        self._running = False
        await asyncio.gather(*writers)

    async def _come_and_go(self, granter: Caller, connector: UUID) -> None:
        path = f"/api/mcp/connectors/{connector}/grants/agents/{self.agent}"
        for _ in range(REVOCATIONS // CONNECTORS):
            # Waiting for an answer lets writers in; the others are on their way.
            await self._answers.get()
            assert (await granter.delete(path)).status == 200
            await self._answers.get()
            assert (await granter.put(path)).status == 201

    async def _write(self, writer: Caller, first: int) -> None:
        for turn in itertools.count(first):
            if not self._running:
                return
            # One connector, or two of which both must be granted.
            named = {turn % CONNECTORS, turn * (turn % 2) % CONNECTORS}
            pattern = f"tool_{next(self._numbers)}"
            reply = await put(
                writer,
                self.agent,
                *[rule(self.connectors[each], pattern, "allow") for each in named],
            )
            self.statuses[reply.status] += 1
            self._answers.put_nowait(reply.status)
            if reply.status == 200:
                self.positions.append(reply.position)


def accepted_without_a_grant(
    log: list[RecordedEvent], agent: UUID
) -> tuple[list[int], list[int]]:
    """Return the positions of all replacements, and of those nobody had granted."""
    granted: set[UUID] = set()
    replaced: list[int] = []
    wrong: list[int] = []
    for recorded in log:
        match recorded.event:
            case Connector.GrantedToAgent():
                granted.add(recorded.aggregate_id)
            case Connector.GrantRevoked():
                granted.discard(recorded.aggregate_id)
            case ToolRules.Replaced(rules=rules):
                replaced.append(recorded.position)
                if not {UUID(connector) for connector in rules} <= granted:
                    wrong.append(recorded.position)
    return replaced, wrong


@pytest.mark.parametrize("processes", [1, 2])
async def test_no_rule_is_accepted_on_a_revoked_grant(
    callers: Callers, setting: Setting, other_process: TestClient, processes: int
) -> None:
    root = await callers.user("root", "superuser")
    owner = await callers.user("owner")
    ada = await callers.user("ada")
    agent = await setting.agent(ada)
    connectors = [
        await setting.connector(owner, granted_to=[agent]) for _ in range(CONNECTORS)
    ]
    race = Race(agent, connectors)
    if processes == 2:
        root = Caller(other_process, root.token, root.user_id)

    await race.run(writer=owner, granter=root)

    log = await read_events(
        setting.resources.log, after=0, upto=2**40, limit=EVENTS_MAX
    )
    replaced, wrong = accepted_without_a_grant(log, agent)
    assert wrong == []
    assert sorted(race.positions) == replaced
    revoked = sum(isinstance(each.event, Connector.GrantRevoked) for each in log)
    assert revoked == REVOCATIONS
    # Otherwise nothing would have been raced.
    assert set(race.statuses) <= {200, 403, 409}
    assert min(race.statuses[200], race.statuses[403]) >= 50
