"""Presets: what they may name, and who changes, retires and sees them."""

from uuid import UUID, uuid4

import pytest

from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PreconditionFailedError,
    ServiceError,
)
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.commands import (
    EditPreset,
    MakePreset,
    RetirePreset,
    decide_edit,
    edit_preset,
    make_preset,
    retire_preset,
)
from service.model_gateway.presets.terms import PresetTerms
from service.principal import Principal
from tests.support.connectors.making import (
    AUDITOR,
    MANAGER,
    OWNER,
    ROOT,
    STRANGER,
    agent_of,
)
from tests.support.model_gateway.making import (
    ANTHROPIC,
    OPENAI,
    connection_of,
    preset_of,
    target,
    terms,
)
from tests.support.scenario import Scenario


@pytest.fixture
async def connection(scenario: Scenario) -> ModelConnection:
    connection = connection_of(OWNER)
    await scenario.given(connection)
    return connection


async def edit(
    scenario: Scenario,
    preset: ModelPreset,
    said: PresetTerms,
    *,
    by: Principal = OWNER,
    if_match: int | None = None,
) -> None:
    command = EditPreset(preset_id=preset.id, terms=said)
    await scenario.when(edit_preset, command, by=by, if_match=if_match)


async def refused_paths(
    scenario: Scenario, code: str, kind: type[ServiceError] = InvalidRequestError
) -> list[str]:
    await scenario.then_refused(kind)
    assert scenario.error is not None
    assert scenario.error.code == code
    return [each.path for each in scenario.error.problems]


async def test_who_makes_a_preset_owns_it(
    scenario: Scenario, connection: ModelConnection
) -> None:
    said = terms([target(connection)], [target(connection, "swift-mini")])

    await scenario.when(make_preset, MakePreset(terms=said), by=OWNER)

    await scenario.then(("model_preset.made", OWNER))
    (event,) = [each.event for each in await scenario.recorded()]
    assert (event.owner_id, event.terms) == (str(OWNER.user_id), said)


async def test_each_target_without_a_connection_of_the_caller_is_named(
    scenario: Scenario, connection: ModelConnection
) -> None:
    foreign, ended = connection_of(STRANGER), connection_of(OWNER)
    ended.retire()
    await scenario.given(foreign, ended)
    said = terms(
        [target(connection), target(foreign)],
        [target(connection, "b"), target(ended), target(UUID(int=3))],
    )

    await scenario.when(make_preset, MakePreset(terms=said), by=OWNER)

    assert await refused_paths(scenario, "unknown_connection") == [
        "groups[0].targets[1].connection_id",
        "groups[1].targets[1].connection_id",
        "groups[1].targets[2].connection_id",
    ]


async def test_a_superuser_names_no_connection_of_another(
    scenario: Scenario, connection: ModelConnection
) -> None:
    command = MakePreset(terms=terms([target(connection)]))

    await scenario.when(make_preset, command, by=ROOT)

    paths = await refused_paths(scenario, "unknown_connection")
    assert paths == ["groups[0].targets[0].connection_id"]


@pytest.mark.parametrize(
    ("spoken", "taken"),
    [
        ([(ANTHROPIC,), (ANTHROPIC, OPENAI)], True),
        ([(ANTHROPIC,), (OPENAI,)], False),
        # Each two of them have one in common, all three have none.
        (
            [
                (ANTHROPIC, OPENAI),
                (OPENAI, "openai_responses"),
                (ANTHROPIC, "openai_responses"),
            ],
            False,
        ),
    ],
)
async def test_all_targets_need_a_dialect_in_common(
    scenario: Scenario, *, spoken: list[tuple[str, ...]], taken: bool
) -> None:
    connections = [connection_of(OWNER, *each) for each in spoken]
    await scenario.given(*connections)
    command = MakePreset(terms=terms(*[[target(each)] for each in connections]))

    await scenario.when(make_preset, command, by=OWNER)

    if taken:
        await scenario.then(("model_preset.made", OWNER))
    else:
        assert await refused_paths(scenario, "no_common_dialect") == ["groups"]


async def test_an_edit_records_the_terms_and_those_before(
    scenario: Scenario, connection: ModelConnection
) -> None:
    preset = preset_of(OWNER, connection, granted_to=[UUID(int=1)])
    before = preset.terms
    await scenario.given(preset)
    after = terms([target(connection, "swift-2")], attempts=3)

    await edit(scenario, preset, after)

    await scenario.then(("model_preset.edited", OWNER))
    (event,) = [each.event for each in await scenario.recorded()]
    assert (event.previous, event.terms) == (before, after)
    edited = scenario.result
    assert (edited.before, edited.has_changed) == (before, True)
    assert edited.preset.granted_to == [str(UUID(int=1))]


async def test_the_same_terms_are_nothing_to_do(
    scenario: Scenario, connection: ModelConnection
) -> None:
    preset = preset_of(OWNER, connection)
    await scenario.given(preset)

    await edit(scenario, preset, preset.terms)

    await scenario.then()
    assert scenario.result.has_changed is False
    assert scenario.result.preset.version == 1


async def test_an_edit_is_refused_as_making_one_is(
    scenario: Scenario, connection: ModelConnection
) -> None:
    preset, chat = preset_of(OWNER, connection), connection_of(OWNER, OPENAI)
    await scenario.given(preset, chat)

    await edit(scenario, preset, terms([target(uuid4())]))
    paths = await refused_paths(scenario, "unknown_connection")
    assert paths == ["groups[0].targets[0].connection_id"]
    await edit(scenario, preset, terms([target(connection)], [target(chat)]))
    assert await refused_paths(scenario, "no_common_dialect") == ["groups"]


@pytest.mark.parametrize(
    ("caller", "public", "kind"),
    [
        (ROOT, False, ForbiddenError),
        (AUDITOR, False, ForbiddenError),
        (STRANGER, False, NotFoundError),
        (STRANGER, True, ForbiddenError),
        (MANAGER, False, ForbiddenError),
    ],
)
async def test_the_owner_alone_edits_a_preset(
    scenario: Scenario,
    connection: ModelConnection,
    caller: Principal,
    *,
    public: bool,
    kind: type[ServiceError],
) -> None:
    agent = agent_of(MANAGER)
    preset = preset_of(OWNER, connection, public=public, granted_to=[agent.id])
    await scenario.given(agent, preset)

    await edit(scenario, preset, terms([target(connection)]), by=caller, if_match=9)

    await scenario.then_refused(kind)


@pytest.mark.parametrize("caller", [OWNER, ROOT])
async def test_a_retired_preset_has_lost_its_grants_and_does_not_exist(
    scenario: Scenario, connection: ModelConnection, caller: Principal
) -> None:
    agent_id = uuid4()
    preset = preset_of(OWNER, connection, public=True, granted_to=[agent_id])
    await scenario.given(preset)
    command = RetirePreset(preset_id=preset.id)

    await scenario.when(retire_preset, command, by=caller)

    await scenario.then(("model_preset.retired", caller))
    assert scenario.result.granted_to == []
    assert scenario.result.may_be_called_by(agent_id) is False
    for gone in (OWNER, ROOT, STRANGER):
        await scenario.when(retire_preset, command, by=gone)
        await scenario.then_refused(NotFoundError)
    await edit(scenario, preset, preset.terms)
    await scenario.then_refused(NotFoundError)


@pytest.mark.parametrize(
    ("caller", "kind"),
    [
        (AUDITOR, ForbiddenError),
        (MANAGER, ForbiddenError),
        (STRANGER, NotFoundError),
    ],
)
async def test_others_retire_no_preset(
    scenario: Scenario, caller: Principal, kind: type[ServiceError]
) -> None:
    agent = agent_of(MANAGER)
    preset = preset_of(OWNER, granted_to=[agent.id])
    await scenario.given(agent, preset)

    await scenario.when(retire_preset, RetirePreset(preset_id=preset.id), by=caller)

    await scenario.then_refused(kind)


async def test_a_stale_version_is_refused(
    scenario: Scenario, connection: ModelConnection
) -> None:
    preset = preset_of(OWNER, connection, granted_to=[uuid4()])
    await scenario.given(preset)
    said = terms([target(connection)], attempts=4)

    await edit(scenario, preset, said, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
    command = RetirePreset(preset_id=preset.id)
    await scenario.when(retire_preset, command, by=OWNER, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
    await edit(scenario, preset, said, if_match=2)
    await scenario.then(("model_preset.edited", OWNER))


async def test_deciding_on_an_edit_records_nothing(
    scenario: Scenario, connection: ModelConnection
) -> None:
    preset = preset_of(OWNER, connection)
    await scenario.given(preset)
    command = EditPreset(
        preset_id=preset.id, terms=terms([target(connection)], attempts=4)
    )

    for _ in range(2):
        await scenario.when(decide_edit, command, by=OWNER)

        await scenario.then()
        assert scenario.result.has_changed is True
        assert scenario.result.before["attempts"] == 2
