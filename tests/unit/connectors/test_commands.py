"""What can be done with a connector, but for its grants."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from service.connectors.commands import (
    EditConnector,
    MakeConnectorPrivate,
    MakeConnectorPublic,
    RegisterConnector,
    RetireConnector,
    edit_connector,
    make_connector_private,
    make_connector_public,
    register_connector,
    retire_connector,
)
from service.errors import ForbiddenError, NotFoundError, PreconditionFailedError
from service.principal import Principal
from tests.support.connectors.making import (
    AUDITOR,
    MANAGER,
    OWNER,
    ROOT,
    STRANGER,
    agent_of,
    connector_of,
)
from tests.support.scenario import Scenario

COMMANDS = [
    (make_connector_public, MakeConnectorPublic),
    (make_connector_private, MakeConnectorPrivate),
    (retire_connector, RetireConnector),
]
NEW = {"name": "Tracker", "url": "https://tracker.example/v2", "description": "New"}
Handler = Callable[..., Any]


async def test_who_registers_a_connector_owns_it_and_it_is_private(
    scenario: Scenario,
) -> None:
    command = RegisterConnector(
        name="Issue tracker", url="https://tracker.example/mcp", description=""
    )
    await scenario.when(register_connector, command, by=OWNER)
    await scenario.then(("connector.registered", OWNER))
    assert scenario.result.owner_id == str(OWNER.user_id)
    assert scenario.result.is_public is False


@pytest.mark.parametrize("caller", [OWNER, ROOT])
async def test_a_private_connector_is_made_public(
    scenario: Scenario, caller: Principal
) -> None:
    connector = connector_of(OWNER)
    await scenario.given(connector)
    command = MakeConnectorPublic(connector_id=connector.id)
    await scenario.when(make_connector_public, command, by=caller)
    await scenario.then(("connector.made_public", caller))
    (event,) = [each.event for each in await scenario.recorded()]
    assert (event.by, event.since) == (str(caller.user_id), scenario.at.isoformat())


async def test_a_public_connector_is_not_made_public_again(scenario: Scenario) -> None:
    connector = connector_of(OWNER, public=True)
    await scenario.given(connector)
    command = MakeConnectorPublic(connector_id=connector.id)
    await scenario.when(make_connector_public, command, by=OWNER)
    await scenario.then()
    assert scenario.result[1] is False


async def test_missing_rights_are_refused_before_saying_it_is_public(
    scenario: Scenario,
) -> None:
    connector = connector_of(OWNER, public=True)
    await scenario.given(connector)
    command = MakeConnectorPublic(connector_id=connector.id)
    await scenario.when(make_connector_public, command, by=STRANGER)
    await scenario.then_refused(ForbiddenError)


async def test_a_public_connector_is_made_private_and_keeps_its_grants(
    scenario: Scenario,
) -> None:
    connector, agent_id = connector_of(OWNER, public=True), uuid4()
    connector.consent_to_grant(agent_id, by_connector=False, by_agent=True)
    await scenario.given(connector)
    command = MakeConnectorPrivate(connector_id=connector.id)
    await scenario.when(make_connector_private, command, by=OWNER)
    await scenario.then(("connector.made_private", OWNER))
    assert scenario.result[0].is_granted_to(agent_id)


async def test_a_private_connector_is_not_made_private_again(
    scenario: Scenario,
) -> None:
    connector = connector_of(OWNER)
    await scenario.given(connector)
    command = MakeConnectorPrivate(connector_id=connector.id)
    await scenario.when(make_connector_private, command, by=OWNER)
    await scenario.then()
    assert scenario.result[1] is False


async def test_a_retired_connector_loses_its_grants_and_is_404(
    scenario: Scenario,
) -> None:
    connector, agent_id = connector_of(OWNER, public=True), uuid4()
    connector.consent_to_grant(agent_id, by_connector=False, by_agent=True)
    await scenario.given(connector)
    command = RetireConnector(connector_id=connector.id)
    await scenario.when(retire_connector, command, by=OWNER)
    await scenario.then(("connector.retired", OWNER))
    retired = scenario.result
    assert retired.is_granted_to(agent_id) is False
    assert (retired.public_since, retired.made_public_by) == (None, None)
    handler: Any
    for handler, kind in COMMANDS:
        again = kind(connector_id=connector.id)
        await scenario.when(handler, again, by=ROOT)
        await scenario.then_refused(NotFoundError)


@pytest.mark.parametrize(("handler", "kind"), COMMANDS)
async def test_who_sees_a_connector_without_owning_it_is_forbidden(
    scenario: Scenario, handler: Handler, kind: type[Any]
) -> None:
    connector, agent = connector_of(OWNER), agent_of(MANAGER)
    connector.consent_to_grant(agent.id, by_connector=True, by_agent=False)
    await scenario.given(connector, agent)
    for caller in (MANAGER, AUDITOR):
        await scenario.when(handler, kind(connector_id=connector.id), by=caller)
        await scenario.then_refused(ForbiddenError)


@pytest.mark.parametrize(("handler", "kind"), COMMANDS)
async def test_a_hidden_connector_and_none_are_refused_alike(
    scenario: Scenario, handler: Handler, kind: type[Any]
) -> None:
    connector, agent = connector_of(OWNER), agent_of(MANAGER)
    connector.consent_to_grant(agent.id, by_connector=True, by_agent=True)
    await scenario.given(connector, agent)

    async def refusal(connector_id: UUID) -> str:
        await scenario.when(handler, kind(connector_id=connector_id), by=STRANGER)
        await scenario.then_refused(NotFoundError)
        return str(scenario.error)

    assert await refusal(connector.id) == await refusal(uuid4())
    assert await refusal(agent.id) == await refusal(uuid4())


@pytest.mark.parametrize(("handler", "kind"), COMMANDS)
async def test_a_connector_that_changed_meanwhile_is_left_alone(
    scenario: Scenario, handler: Handler, kind: type[Any]
) -> None:
    connector = connector_of(OWNER, public=True)
    await scenario.given(connector)
    command = kind(connector_id=connector.id)
    await scenario.when(handler, command, by=OWNER, if_match=1)
    await scenario.then_refused(PreconditionFailedError)


@pytest.mark.parametrize("caller", [OWNER, ROOT])
async def test_a_connector_is_edited_and_keeps_its_grants(
    scenario: Scenario, caller: Principal
) -> None:
    connector, agent_id = connector_of(OWNER, public=True), uuid4()
    connector.consent_to_grant(agent_id, by_connector=True, by_agent=True)
    await scenario.given(connector)
    command = EditConnector(connector_id=connector.id, **NEW)
    await scenario.when(edit_connector, command, by=caller)
    await scenario.then(("connector.edited", caller))
    edited, changed, slug_before = scenario.result
    assert slug_before == "issue-tracker"
    assert {name: getattr(edited, name) for name in NEW} == NEW
    assert (changed, edited.is_public, edited.is_granted_to(agent_id)) == (True,) * 3
    (event,) = [each.event for each in await scenario.recorded()]
    assert event.sentence(str) == (
        f"edited the connector {connector.id}: name 'Tracker', was 'Issue tracker'; "
        "URL 'https://tracker.example/v2', was 'https://tracker.example/mcp'; "
        "description 'New', was ''"
    )
    await scenario.when(edit_connector, command, by=caller)
    await scenario.then()
    assert scenario.result[1] is False


async def test_only_the_owner_edits_a_connector(
    scenario: Scenario,
) -> None:
    connector = connector_of(OWNER, public=True)
    await scenario.given(connector)
    command = EditConnector(connector_id=connector.id, **NEW)
    for caller in (STRANGER, AUDITOR):
        await scenario.when(edit_connector, command, by=caller)
        await scenario.then_refused(ForbiddenError)
    await scenario.when(edit_connector, command, by=OWNER, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
