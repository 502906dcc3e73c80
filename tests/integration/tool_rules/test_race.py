"""Grants that are revoked while rules are replaced, judged by the order of the log."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from aiohttp.test_utils import TestClient

from service.connectors.aggregate import Connector
from service.event_log.mapper import RecordedEvent
from service.resources import Resources
from service.tool_rules.aggregate import ToolRules
from tests.support.callers import Caller, Callers, Reply
from tests.support.grant_race import GrantRace, second_process
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting, put, rule

pytestmark = pytest.mark.thorough

REVOCATIONS = 210
CONNECTORS = 3
EVENTS_MAX = 100_000


@pytest.fixture
async def other_process(
    resources: Resources, tmp_path: Path
) -> AsyncIterator[TestClient]:
    async with second_process(resources, tmp_path) as client:
        yield client


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
    race = GrantRace(
        [f"/api/mcp/connectors/{each}/grants/agents/{agent}" for each in connectors],
        times=REVOCATIONS // CONNECTORS,
    )

    async def replace(turn: int, number: int) -> Reply:
        # One connector, or two of which both must be granted.
        named = {turn % CONNECTORS, turn * (turn % 2) % CONNECTORS}
        rules = [rule(connectors[each], f"tool_{number}", "allow") for each in named]
        return await put(owner, agent, *rules)

    if processes == 2:
        root = Caller(other_process, root.token, root.user_id)

    await race.run(replace=replace, granter=root)

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
