"""What can be done with an agent."""

from uuid import UUID, uuid4

import pytest

from service.agents.aggregate import MANAGERS_MAX, Agent
from service.agents.commands import (
    AppointManager,
    DismissManager,
    EditAgent,
    RegisterAgent,
    RetireAgent,
    appoint_manager,
    dismiss_manager,
    edit_agent,
    register_agent,
    retire_agent,
)
from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
)
from service.principal import Principal, Role
from service.users.aggregate import User
from tests.support.connectors.making import agent_of
from tests.support.scenario import Scenario, principal

ADA, BOB, EVE = principal("ada"), principal("bob"), principal("eve")
ROOT = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)


async def given_agent(scenario: Scenario, *managers: Principal) -> Agent:
    agent = agent_of(*managers)
    await scenario.given(agent)
    return agent


def appoint(agent_id: UUID, user: Principal) -> AppointManager:
    return AppointManager(agent_id=agent_id, user_id=user.user_id)


def dismiss(agent_id: UUID, user: Principal) -> DismissManager:
    return DismissManager(agent_id=agent_id, user_id=user.user_id)


async def test_who_registers_an_agent_manages_it(scenario: Scenario) -> None:
    command = RegisterAgent(name="Triage", description="Sorts")
    await scenario.when(register_agent, command, by=ADA)
    await scenario.then(("agent.registered", ADA))
    assert scenario.result.manager_ids == [str(ADA.user_id)]


async def test_a_manager_is_appointed(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.given(User(name="bob"))
    await scenario.when(appoint_manager, appoint(agent.id, BOB), by=ADA)
    await scenario.then(("agent.manager_appointed", ADA))
    assert scenario.result[0].is_managed_by(BOB.user_id)


async def test_appointing_a_manager_again_does_nothing(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA, BOB)
    await scenario.given(User(name="bob"))
    await scenario.when(appoint_manager, appoint(agent.id, BOB), by=ADA)
    await scenario.then()
    assert scenario.result[1] is False


async def test_appointing_an_unknown_manager_is_refused(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.when(appoint_manager, appoint(agent.id, BOB), by=ADA)
    await scenario.then_refused(NotFoundError)


async def test_an_auditor_appoints_nobody(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.given(User(name="bob"))
    await scenario.when(appoint_manager, appoint(agent.id, BOB), by=AUDITOR)
    await scenario.then_refused(ForbiddenError)


async def test_a_stranger_and_a_missing_agent_are_refused_alike(
    scenario: Scenario,
) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.given(User(name="eve"))
    for agent_id in (agent.id, uuid4()):
        await scenario.when(appoint_manager, appoint(agent_id, EVE), by=EVE)
        await scenario.then_refused(NotFoundError)
        await scenario.when(dismiss_manager, dismiss(agent_id, ADA), by=EVE)
        await scenario.then_refused(NotFoundError)


async def test_no_more_managers_than_an_agent_can_have(scenario: Scenario) -> None:
    agent = agent_of(ADA)
    for _ in range(MANAGERS_MAX - 1):
        agent.appoint_manager(uuid4())
    await scenario.given(agent, User(name="bob"))
    await scenario.when(appoint_manager, appoint(agent.id, BOB), by=ADA)
    await scenario.then_refused(ConflictError)


async def test_a_manager_is_dismissed(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA, BOB)
    await scenario.when(dismiss_manager, dismiss(agent.id, BOB), by=ADA)
    await scenario.then(("agent.manager_dismissed", ADA))


async def test_the_last_manager_is_dismissed_only_by_a_superuser(
    scenario: Scenario,
) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.when(dismiss_manager, dismiss(agent.id, ADA), by=ADA)
    await scenario.then_refused(ForbiddenError)
    await scenario.when(dismiss_manager, dismiss(agent.id, ADA), by=ROOT)
    await scenario.then(("agent.manager_dismissed", ROOT))


async def test_dismissing_another_than_a_manager_does_nothing(
    scenario: Scenario,
) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.when(dismiss_manager, dismiss(agent.id, BOB), by=ADA)
    await scenario.then()
    assert scenario.result[1] is False


async def test_managers_that_changed_meanwhile_are_left_alone(
    scenario: Scenario,
) -> None:
    agent = await given_agent(scenario, ADA, BOB)
    command = dismiss(agent.id, BOB)
    await scenario.when(dismiss_manager, command, by=ADA, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
    await scenario.when(dismiss_manager, command, by=ADA, if_match=2)
    await scenario.then(("agent.manager_dismissed", ADA))


def edit(agent: Agent, name: str, description: str = "") -> EditAgent:
    return EditAgent(agent_id=agent.id, name=name, description=description)


async def test_an_agent_is_edited(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.when(edit_agent, edit(agent, "Sorter", "Sorts"), by=ADA)
    await scenario.then(("agent.edited", ADA))
    edited, changed = scenario.result
    assert (edited.name, edited.description, changed) == ("Sorter", "Sorts", True)
    (event,) = [each.event for each in await scenario.recorded()]
    assert event.sentence(str) == (
        f"edited the agent {agent.id}: name 'Sorter', was 'Triage'; "
        "description 'Sorts', was ''"
    )


async def test_an_edit_to_the_same_values_does_nothing(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.when(edit_agent, edit(agent, "Triage"), by=ADA)
    await scenario.then()
    assert scenario.result[1] is False


async def test_an_agent_is_retired_once(scenario: Scenario) -> None:
    agent = await given_agent(scenario, ADA)
    command = RetireAgent(agent_id=agent.id)
    await scenario.when(retire_agent, command, by=ADA)
    await scenario.then(("agent.retired", ADA))
    await scenario.when(retire_agent, command, by=ADA)
    await scenario.then()
    assert scenario.result[1] is False


async def test_a_retired_agent_keeps_its_name_and_may_get_other_managers(
    scenario: Scenario,
) -> None:
    agent = agent_of(ADA)
    agent.retire()
    await scenario.given(agent, User(name="bob"))
    await scenario.when(edit_agent, edit(agent, "Sorter"), by=ADA)
    await scenario.then_refused(ConflictError)
    await scenario.when(appoint_manager, appoint(agent.id, BOB), by=ADA)
    await scenario.then(("agent.manager_appointed", ADA))


@pytest.mark.parametrize(
    ("caller", "refusal"), [(AUDITOR, ForbiddenError), (EVE, NotFoundError)]
)
async def test_only_managers_edit_or_retire_an_agent(
    scenario: Scenario, caller: Principal, refusal: type[ForbiddenError]
) -> None:
    agent = await given_agent(scenario, ADA)
    await scenario.when(edit_agent, edit(agent, "Sorter"), by=caller)
    await scenario.then_refused(refusal)
    await scenario.when(retire_agent, RetireAgent(agent_id=agent.id), by=caller)
    await scenario.then_refused(refusal)


async def test_editing_or_retiring_an_agent_needs_its_current_version(
    scenario: Scenario,
) -> None:
    agent = await given_agent(scenario, ADA, BOB)
    command = RetireAgent(agent_id=agent.id)
    await scenario.when(edit_agent, edit(agent, "Sorter"), by=ADA, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
    await scenario.when(retire_agent, command, by=ADA, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
    await scenario.when(retire_agent, command, by=ADA, if_match=2)
    await scenario.then(("agent.retired", ADA))
