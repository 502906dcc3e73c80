"""Grants that are revoked while a routing is replaced, judged by the log's order."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from aiohttp.test_utils import TestClient

from service.event_log.mapper import RecordedEvent
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.routing.aggregate import ModelRouting
from service.resources import Resources
from tests.support.callers import Caller, Reply
from tests.support.grant_race import GrantRace, second_process
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
EVENTS_MAX = 100_000


@pytest.fixture
async def other_process(
    resources: Resources, tmp_path: Path
) -> AsyncIterator[TestClient]:
    async with second_process(resources, tmp_path) as client:
        yield client


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
    race = GrantRace(
        [grant_path(each, agent) for each in presets], times=REVOCATIONS // PRESETS
    )

    async def replace(turn: int, number: int) -> Reply:
        # A route to one of them, and a tier of another or the same.
        return await put_routing(
            ada,
            agent,
            to_preset(f"m{number}", presets[turn % PRESETS]),
            tiers={"own": presets[turn * (turn % 2) % PRESETS]},
        )

    granter = owner
    if processes == 2:
        granter = Caller(other_process, owner.token, owner.user_id)

    await race.run(replace=replace, granter=granter)

    log = await read_events(resources.log, limit=EVENTS_MAX)
    replaced, wrong = accepted_without_a_grant(log)
    assert wrong == []
    assert sorted(race.positions) == replaced
    revoked = sum(isinstance(each.event, ModelPreset.GrantRevoked) for each in log)
    assert revoked == REVOCATIONS
    # Otherwise nothing would have been raced.
    assert set(race.statuses) <= {200, 409, 422}
    assert min(race.statuses[200], race.statuses[422]) >= 20
