"""Readers of an agent: who appoints them, and what they may do."""

from uuid import UUID, uuid4

import pytest

from service.agents.aggregate import READERS_MAX, Agent
from service.agents.reader_commands import (
    AppointReader,
    DismissReader,
    appoint_reader,
    dismiss_reader,
)
from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
)
from service.principal import Principal, Role
from service.users.aggregate import User
from tests.support.scenario import Scenario, principal

ADA, BOB, EVE = principal("ada"), principal("bob"), principal("eve")
AUDITOR = principal("auditor", Role.AUDITOR)


def agent_of(manager: Principal, *readers: Principal) -> Agent:
    agent = Agent(name="Triage", description="", manager_id=str(manager.user_id))
    for reader in readers:
        agent.appoint_reader(reader.user_id)
    return agent


def appoint(agent_id: UUID, user: Principal) -> AppointReader:
    return AppointReader(agent_id=agent_id, user_id=user.user_id)


def dismiss(agent_id: UUID, user: Principal) -> DismissReader:
    return DismissReader(agent_id=agent_id, user_id=user.user_id)


async def test_a_reader_is_appointed(scenario: Scenario) -> None:
    agent = agent_of(ADA)
    await scenario.given(agent, User(name="bob"))
    await scenario.when(appoint_reader, appoint(agent.id, BOB), by=ADA)
    await scenario.then(("agent.reader_appointed", ADA))
    assert scenario.result[0].is_read_by(BOB.user_id)


async def test_appointing_a_reader_again_does_nothing(scenario: Scenario) -> None:
    agent = agent_of(ADA, BOB)
    await scenario.given(agent, User(name="bob"))
    await scenario.when(appoint_reader, appoint(agent.id, BOB), by=ADA)
    await scenario.then()


@pytest.mark.parametrize("caller", [BOB, AUDITOR])
async def test_readers_and_auditors_appoint_nobody(
    scenario: Scenario, caller: Principal
) -> None:
    agent = agent_of(ADA, BOB)
    await scenario.given(agent, User(name="eve"))
    await scenario.when(appoint_reader, appoint(agent.id, EVE), by=caller)
    await scenario.then_refused(ForbiddenError)


async def test_a_stranger_finds_no_agent(scenario: Scenario) -> None:
    agent = agent_of(ADA)
    await scenario.given(agent, User(name="eve"))
    await scenario.when(appoint_reader, appoint(agent.id, EVE), by=EVE)
    await scenario.then_refused(NotFoundError)


async def test_appointing_an_unknown_user_is_refused(scenario: Scenario) -> None:
    agent = agent_of(ADA)
    await scenario.given(agent)
    await scenario.when(appoint_reader, appoint(agent.id, BOB), by=ADA)
    await scenario.then_refused(NotFoundError)


async def test_no_more_readers_than_an_agent_can_have(scenario: Scenario) -> None:
    agent = agent_of(ADA)
    for _ in range(READERS_MAX):
        agent.appoint_reader(uuid4())
    await scenario.given(agent, User(name="bob"))
    await scenario.when(appoint_reader, appoint(agent.id, BOB), by=ADA)
    await scenario.then_refused(ConflictError)


async def test_a_reader_is_dismissed(scenario: Scenario) -> None:
    agent = agent_of(ADA, BOB)
    await scenario.given(agent)
    await scenario.when(dismiss_reader, dismiss(agent.id, BOB), by=ADA)
    await scenario.then(("agent.reader_dismissed", ADA))
    assert not scenario.result[0].is_read_by(BOB.user_id)


async def test_dismissing_another_than_a_reader_does_nothing(
    scenario: Scenario,
) -> None:
    agent = agent_of(ADA)
    await scenario.given(agent)
    await scenario.when(dismiss_reader, dismiss(agent.id, BOB), by=ADA)
    await scenario.then()


async def test_readers_that_changed_meanwhile_are_not_dismissed(
    scenario: Scenario,
) -> None:
    agent = agent_of(ADA, BOB)
    await scenario.given(agent)
    await scenario.when(dismiss_reader, dismiss(agent.id, BOB), by=ADA, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
