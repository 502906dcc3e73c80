"""Looking back: from a position or a time to what things were then."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from projections.engine.time_travel import as_of
from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.errors import MalformedRequestError
from service.event_log.log import EventLog
from service.resources import Resources
from service.users.aggregate import User
from tests.support.scenario import Scenario


@pytest.fixture
async def db(resources: Resources) -> AsyncIterator[AsyncConnection[Any]]:
    async with resources.pool.connection() as connection:
        yield connection


@pytest.fixture
def log(resources: Resources) -> EventLog:
    return resources.log


async def managed_by_two(scenario: Scenario) -> Agent:
    agent = Agent(name="Triage", description="", manager_id=str(uuid4()))
    await scenario.given(agent)
    agent.appoint_manager(uuid4())
    await scenario.given(User(name="ada"), agent)
    return agent


async def recorded_at(db: AsyncConnection[Any], position: int) -> datetime:
    cursor = await db.execute(
        "SELECT recorded_at FROM events.stored_event WHERE notification_id = %s",
        [position],
    )
    row = await cursor.fetchone()
    assert row is not None
    moment: datetime = row[0]
    return moment


async def test_an_aggregate_is_replayed_up_to_a_position(
    scenario: Scenario, db: AsyncConnection[Any], log: EventLog
) -> None:
    agent = await managed_by_two(scenario)

    managers = []
    for position in (1, 2, 3):
        found = await (await as_of(db, log.mapper, position)).find(Agent, agent.id)
        assert found is not None
        managers.append(len(found.manager_ids))

    assert managers == [1, 1, 2]


async def test_nothing_is_found_before_it_existed_or_as_another_kind(
    scenario: Scenario, db: AsyncConnection[Any], log: EventLog
) -> None:
    agent = await managed_by_two(scenario)

    assert await (await as_of(db, log.mapper, 0)).find(Agent, agent.id) is None
    assert await (await as_of(db, log.mapper, 3)).find(Connector, agent.id) is None
    assert await (await as_of(db, log.mapper, 3)).find(Agent, uuid4()) is None


async def test_a_time_includes_what_was_recorded_at_it(
    scenario: Scenario, db: AsyncConnection[Any], log: EventLog
) -> None:
    await managed_by_two(scenario)
    first, second = await recorded_at(db, 1), await recorded_at(db, 2)
    just_before = second - timedelta(microseconds=1)

    assert (await as_of(db, log.mapper, first)).position == 1
    assert (await as_of(db, log.mapper, just_before)).position == 1
    assert (await as_of(db, log.mapper, second)).position == 3
    assert (await as_of(db, log.mapper, first - timedelta(days=1))).position == 0
    assert (await as_of(db, log.mapper, second + timedelta(days=1))).position == 3


async def test_a_position_beyond_the_end_is_refused(
    scenario: Scenario, db: AsyncConnection[Any], log: EventLog
) -> None:
    await managed_by_two(scenario)

    with pytest.raises(MalformedRequestError, match="ends at position 3"):
        await as_of(db, log.mapper, 4)
