"""Agent events in the read tables."""

from uuid import UUID, uuid4

from aiohttp.test_utils import TestClient

from service.agents.aggregate import Agent
from service.resources import Resources
from tests.support.rebuilding import expect_rebuild_equals_live, tables
from tests.support.scenario import Scenario

FIRST, SECOND = UUID(int=1), UUID(int=2)


async def test_managers_follow_their_events_within_a_batch_and_across(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    agent = Agent(name="Triage", description="", manager_id=str(FIRST))
    agent.appoint_manager(SECOND)
    agent.dismiss_manager(FIRST)
    await scenario.given(agent)
    assert (await tables(resources, "agents"))["agent_manager"] == [
        f"({agent.id},{SECOND})"
    ]

    agent.dismiss_manager(SECOND)
    agent.appoint_manager(FIRST)
    agent.appoint_manager(SECOND)
    agent.dismiss_manager(SECOND)
    agent.edit(name="Sorter", description="Sorts")
    agent.retire()
    await scenario.given(agent)

    rows = await tables(resources, "agents")
    at = "2026-03-01 12:00:00+00"
    assert rows["agent"] == [f'({agent.id},Sorter,Sorts,t,9,"{at}","{at}")']
    assert rows["agent_manager"] == [f"({agent.id},{FIRST})"]


async def test_readers_follow_their_events(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    agent = Agent(name="Triage", description="", manager_id=str(FIRST))
    agent.appoint_reader(FIRST)
    agent.appoint_reader(SECOND)
    await scenario.given(agent)
    agent.dismiss_reader(FIRST)
    await scenario.given(agent)

    rows = await tables(resources, "agents")

    assert rows["agent_reader"] == [f"({agent.id},{SECOND})"]


async def test_rebuilt_agents_equal_live_ones(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    for number in range(20):
        agent = Agent(name=str(number), description="", manager_id=str(FIRST))
        await scenario.given(agent)
        agent.appoint_manager(uuid4())
        if number % 3:
            agent.dismiss_manager(FIRST)
            agent.appoint_reader(SECOND)
        await scenario.given(agent)

    await expect_rebuild_equals_live(resources, "agents")
