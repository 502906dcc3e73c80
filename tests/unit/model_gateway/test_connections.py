"""Connections: who does what with them, and when there is nothing to do."""

from uuid import uuid4

import pytest

from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PreconditionFailedError,
)
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.connections.commands import (
    EditConnection,
    RegisterConnection,
    RetireConnection,
    edit_connection,
    register_connection,
    retire_connection,
)
from service.principal import Principal
from tests.support.connectors.making import AUDITOR, OWNER, ROOT, STRANGER
from tests.support.model_gateway.making import (
    CREDENTIAL,
    connection_of,
    secret_of,
    settings,
)
from tests.support.scenario import Scenario

NEW = settings(name="Anthropic, research", base_url="https://eu.anthropic.example/v1")
WITH_SECRET = settings(credential=CREDENTIAL)


async def retired(scenario: Scenario) -> ModelConnection:
    connection = connection_of(OWNER)
    connection.retire()
    await scenario.given(connection)
    return connection


async def test_who_registers_a_connection_owns_it(scenario: Scenario) -> None:
    command = RegisterConnection(settings=settings())

    await scenario.when(register_connection, command, by=OWNER)

    await scenario.then(("model_connection.registered", OWNER))
    (event,) = [each.event for each in await scenario.recorded()]
    assert (event.owner_id, event.settings) == (str(OWNER.user_id), settings())
    assert scenario.result.version == 1


async def test_a_connection_sends_a_secret_of_its_owner(scenario: Scenario) -> None:
    await scenario.given(secret_of(OWNER))

    command = RegisterConnection(settings=WITH_SECRET)
    await scenario.when(register_connection, command, by=OWNER)

    await scenario.then(("model_connection.registered", OWNER))
    assert scenario.result.settings["credential"] == CREDENTIAL


@pytest.mark.parametrize("case", ["none", "of another", "deleted", "of another name"])
async def test_a_secret_that_the_caller_does_not_have_is_refused(
    scenario: Scenario, case: str
) -> None:
    secret = secret_of(
        STRANGER if case == "of another" else OWNER,
        "Anthropic" if case == "of another name" else "anthropic",
    )
    if case == "deleted":
        secret.delete()
    connection = connection_of(OWNER)
    await scenario.given(connection)
    if case != "none":
        await scenario.given(secret)

    for handler, command in (
        (register_connection, RegisterConnection(settings=WITH_SECRET)),
        (
            edit_connection,
            EditConnection(connection_id=connection.id, settings=WITH_SECRET),
        ),
    ):
        await scenario.when(handler, command, by=OWNER)  # type: ignore[arg-type]  # each with its own
        await scenario.then_refused(InvalidRequestError)
        assert scenario.error is not None
        assert scenario.error.code == "unknown_secret"
        paths = [each.path for each in scenario.error.problems]
        assert paths == ["credential.secret_name"]


async def test_an_edit_records_the_settings_and_those_before(
    scenario: Scenario,
) -> None:
    connection = connection_of(OWNER)
    await scenario.given(connection)

    command = EditConnection(connection_id=connection.id, settings=NEW)
    await scenario.when(edit_connection, command, by=OWNER)

    await scenario.then(("model_connection.edited", OWNER))
    (event,) = [each.event for each in await scenario.recorded()]
    assert (event.previous, event.settings) == (settings(), NEW)
    edited, changed = scenario.result
    assert (edited.settings, edited.version, changed) == (NEW, 2, True)


async def test_the_same_settings_are_nothing_to_do(scenario: Scenario) -> None:
    connection = connection_of(OWNER)
    await scenario.given(connection)

    command = EditConnection(connection_id=connection.id, settings=settings())
    await scenario.when(edit_connection, command, by=OWNER)

    await scenario.then()
    edited, changed = scenario.result
    assert (edited.version, changed) == (1, False)


@pytest.mark.parametrize("caller", [OWNER, ROOT])
async def test_owner_and_superusers_retire_a_connection(
    scenario: Scenario, caller: Principal
) -> None:
    connection = connection_of(OWNER)
    await scenario.given(connection)

    command = RetireConnection(connection_id=connection.id)
    await scenario.when(retire_connection, command, by=caller)

    await scenario.then(("model_connection.retired", caller))
    assert (scenario.result.is_retired, scenario.result.version) == (True, 2)


@pytest.mark.parametrize(
    ("caller", "kind"),
    [(ROOT, ForbiddenError), (AUDITOR, ForbiddenError), (STRANGER, NotFoundError)],
)
async def test_the_owner_alone_edits_a_connection(
    scenario: Scenario, caller: Principal, kind: type[ForbiddenError | NotFoundError]
) -> None:
    # Not even a superuser who has such a secret: calls would send the owner's.
    connection = connection_of(OWNER)
    await scenario.given(connection, secret_of(caller))

    for said in (settings(), NEW, WITH_SECRET):
        command = EditConnection(connection_id=connection.id, settings=said)
        await scenario.when(edit_connection, command, by=caller, if_match=7)
        await scenario.then_refused(kind)


@pytest.mark.parametrize(
    ("caller", "kind"), [(AUDITOR, ForbiddenError), (STRANGER, NotFoundError)]
)
async def test_others_retire_no_connection(
    scenario: Scenario, caller: Principal, kind: type[ForbiddenError | NotFoundError]
) -> None:
    connection = connection_of(OWNER)
    await scenario.given(connection)

    command = RetireConnection(connection_id=connection.id)
    await scenario.when(retire_connection, command, by=caller)

    await scenario.then_refused(kind)


async def test_none_a_retired_and_an_invisible_one_are_refused_alike(
    scenario: Scenario,
) -> None:
    foreign = connection_of(STRANGER)
    await scenario.given(foreign)
    ended = await retired(scenario)
    messages = set()

    for connection_id in (uuid4(), foreign.id, ended.id):
        edit = EditConnection(connection_id=connection_id, settings=NEW)
        await scenario.when(edit_connection, edit, by=OWNER)
        await scenario.then_refused(NotFoundError)
        messages.add(str(scenario.error))
        retire = RetireConnection(connection_id=connection_id)
        await scenario.when(retire_connection, retire, by=OWNER)
        await scenario.then_refused(NotFoundError)
        messages.add(str(scenario.error))

    assert len(messages) == 1


async def test_a_connection_can_not_be_retired_twice(scenario: Scenario) -> None:
    connection = await retired(scenario)

    command = RetireConnection(connection_id=connection.id)
    await scenario.when(retire_connection, command, by=ROOT)

    await scenario.then_refused(NotFoundError)


async def test_a_stale_version_is_refused(scenario: Scenario) -> None:
    connection = connection_of(OWNER)
    connection.edit(NEW)
    await scenario.given(connection)

    edit = EditConnection(connection_id=connection.id, settings=settings())
    await scenario.when(edit_connection, edit, by=OWNER, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
    retire = RetireConnection(connection_id=connection.id)
    await scenario.when(retire_connection, retire, by=OWNER, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
    await scenario.when(retire_connection, retire, by=OWNER, if_match=2)
    await scenario.then(("model_connection.retired", OWNER))


def test_an_edit_says_in_words_what_differs() -> None:
    connection = connection_of(OWNER)
    connection.edit(settings(name="Other", credential=CREDENTIAL))
    event = connection.pending_events[-1]

    assert isinstance(event, ModelConnection.Edited)
    sentence = event.sentence(str)
    for word in ("'Anthropic'", "'Other'", "none", "anthropic", "x-api-key"):
        assert word in sentence
    assert "api.anthropic.example" not in sentence


def test_replaying_the_events_gives_the_connection_back() -> None:
    connection = connection_of(OWNER)
    connection.edit(NEW)
    connection.retire()
    assert connection.retire() is False

    replayed = None
    for event in connection.pending_events:
        replayed = event.mutate(replayed)

    assert isinstance(replayed, ModelConnection)
    assert (replayed.settings, replayed.is_retired) == (NEW, True)
    assert (replayed.owner_id, replayed.version) == (str(OWNER.user_id), 3)
