"""From how many tools on an agent searches them: who says so."""

from uuid import UUID

import pytest

from service.agents.aggregate import Agent
from service.agents.gateway_commands import (
    ChangeToolSearch,
    ReadToolSearch,
    change_tool_search,
    read_tool_search,
)
from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
)
from service.principal import Principal, Role
from tests.support.scenario import Scenario, principal

ADA, BOB, EVE = principal("ada"), principal("bob"), principal("eve")
AUDITOR = principal("auditor", Role.AUDITOR)


@pytest.fixture
async def agent(scenario: Scenario) -> Agent:
    """Ada's, which Bob reads."""
    agent = Agent(name="Triage", description="", manager_id=str(ADA.user_id))
    agent.appoint_reader(BOB.user_id)
    await scenario.given(agent)
    return agent


def change(agent_id: UUID, tools_listed_max: int | None) -> ChangeToolSearch:
    return ChangeToolSearch(agent_id=agent_id, tools_listed_max=tools_listed_max)


async def test_a_manager_changes_it(scenario: Scenario, agent: Agent) -> None:
    await scenario.when(change_tool_search, change(agent.id, 40), by=ADA)
    await scenario.then(("agent.tool_search_changed", ADA))
    assert scenario.result[0].tools_listed_max == 40


async def test_the_same_again_does_nothing(scenario: Scenario, agent: Agent) -> None:
    await scenario.when(change_tool_search, change(agent.id, None), by=ADA)
    await scenario.then()


@pytest.mark.parametrize("caller", [BOB, AUDITOR])
async def test_who_only_sees_the_agent_reads_it(
    scenario: Scenario, agent: Agent, caller: Principal
) -> None:
    await scenario.when(read_tool_search, ReadToolSearch(agent_id=agent.id), by=caller)
    await scenario.then()
    assert scenario.result.tools_listed_max is None
    await scenario.when(change_tool_search, change(agent.id, 40), by=caller)
    await scenario.then_refused(ForbiddenError)


async def test_a_stranger_finds_no_agent(scenario: Scenario, agent: Agent) -> None:
    await scenario.when(read_tool_search, ReadToolSearch(agent_id=agent.id), by=EVE)
    await scenario.then_refused(NotFoundError)
    await scenario.when(change_tool_search, change(agent.id, 40), by=EVE)
    await scenario.then_refused(NotFoundError)


async def test_an_agent_that_changed_meanwhile_is_refused(
    scenario: Scenario, agent: Agent
) -> None:
    await scenario.when(change_tool_search, change(agent.id, 40), by=ADA, if_match=1)
    await scenario.then_refused(PreconditionFailedError)


async def test_a_retired_agent_is_refused(scenario: Scenario) -> None:
    agent = Agent(name="Triage", description="", manager_id=str(ADA.user_id))
    agent.retire()
    await scenario.given(agent)
    await scenario.when(change_tool_search, change(agent.id, 40), by=ADA)
    await scenario.then_refused(ConflictError)
