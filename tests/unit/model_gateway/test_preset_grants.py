"""Grants of presets to agents: by whom, to which, and how many."""

from uuid import UUID, uuid4

import pytest

from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
    ServiceError,
)
from service.model_gateway.presets import aggregate
from service.model_gateway.presets.aggregate import GRANTS_MAX, ModelPreset
from service.model_gateway.presets.commands import (
    GrantPreset,
    RevokePreset,
    grant_preset,
    revoke_preset,
)
from service.principal import Principal
from tests.support.connectors.making import (
    AUDITOR,
    MANAGER,
    OWNER,
    ROOT,
    STRANGER,
    agent_of,
)
from tests.support.model_gateway.making import preset_of
from tests.support.scenario import Scenario, principal


async def grant(
    scenario: Scenario,
    preset: ModelPreset,
    agent_id: UUID,
    by: Principal = OWNER,
    if_match: int | None = None,
) -> None:
    command = GrantPreset(preset_id=preset.id, agent_id=agent_id)
    await scenario.when(grant_preset, command, by=by, if_match=if_match)


async def revoke(
    scenario: Scenario,
    preset: ModelPreset,
    agent_id: UUID,
    by: Principal = OWNER,
    if_match: int | None = None,
) -> None:
    command = RevokePreset(preset_id=preset.id, agent_id=agent_id)
    await scenario.when(revoke_preset, command, by=by, if_match=if_match)


async def test_a_granted_preset_may_be_called_until_it_is_taken_back(
    scenario: Scenario,
) -> None:
    agent, other = agent_of(MANAGER), agent_of(MANAGER)
    preset = preset_of(OWNER)
    await scenario.given(agent, other, preset)
    assert preset.may_be_called_by(agent.id) is False

    await grant(scenario, preset, agent.id)
    await scenario.then(("model_preset.granted_to_agent", OWNER))
    (event,) = [each.event for each in await scenario.recorded()]
    assert event.agent_id == str(agent.id)
    granted, changed = scenario.result
    assert changed is True
    assert granted.may_be_called_by(agent.id) is True
    assert granted.may_be_called_by(other.id) is False

    await revoke(scenario, preset, agent.id)
    await scenario.then(("model_preset.grant_revoked", OWNER))
    taken, changed = scenario.result
    assert (taken.may_be_called_by(agent.id), changed) == (False, True)


async def test_nothing_is_granted_or_revoked_twice(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    preset = preset_of(OWNER, granted_to=[agent.id])
    await scenario.given(agent, preset)

    await grant(scenario, preset, agent.id)
    await scenario.then()
    assert scenario.result[1] is False
    await revoke(scenario, preset, uuid4())
    await scenario.then()
    assert scenario.result[1] is False


@pytest.mark.parametrize(
    ("caller", "grants", "revokes"),
    [
        (ROOT, ForbiddenError, None),
        (AUDITOR, ForbiddenError, ForbiddenError),
        (MANAGER, ForbiddenError, ForbiddenError),
        (STRANGER, NotFoundError, NotFoundError),
    ],
)
async def test_the_owner_alone_grants_and_superusers_revoke(
    scenario: Scenario,
    caller: Principal,
    grants: type[ServiceError],
    revokes: type[ServiceError] | None,
) -> None:
    agent, other = agent_of(MANAGER), agent_of(MANAGER)
    preset = preset_of(OWNER, granted_to=[agent.id])
    await scenario.given(agent, other, preset)

    await grant(scenario, preset, other.id, caller, if_match=9)
    await scenario.then_refused(grants)
    if revokes is None:
        await revoke(scenario, preset, agent.id, caller)
        await scenario.then(("model_preset.grant_revoked", caller))
    else:
        await revoke(scenario, preset, agent.id, caller, if_match=9)
        await scenario.then_refused(revokes)


async def test_managers_and_readers_of_a_granted_agent_see_the_preset_others_do_not(
    scenario: Scenario,
) -> None:
    reader, of_another = principal("reader"), principal("of another")
    agent, other = agent_of(MANAGER), agent_of(of_another)
    agent.appoint_reader(reader.user_id)
    preset = preset_of(OWNER, granted_to=[agent.id, uuid4()])
    await scenario.given(agent, other, preset)

    # Who sees it is refused; for others it doesn't exist.
    for caller, kind in (
        (MANAGER, ForbiddenError),
        (reader, ForbiddenError),
        (of_another, NotFoundError),
        (STRANGER, NotFoundError),
    ):
        await revoke(scenario, preset, agent.id, caller)
        await scenario.then_refused(kind)
    await revoke(scenario, preset, agent.id)
    for caller in (MANAGER, reader):
        await revoke(scenario, preset, agent.id, caller)
        await scenario.then_refused(NotFoundError)


async def test_agents_that_are_unknown_or_retired_get_no_preset(
    scenario: Scenario,
) -> None:
    retired = agent_of(MANAGER)
    retired.retire()
    preset = preset_of(OWNER)
    await scenario.given(retired, preset)

    await grant(scenario, preset, uuid4())
    await scenario.then_refused(NotFoundError)
    await grant(scenario, preset, retired.id)
    await scenario.then_refused(ConflictError)
    assert scenario.error is not None
    assert scenario.error.code == "agent_retired"


async def test_a_grant_of_a_retired_agent_can_be_revoked(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    agent.retire()
    preset = preset_of(OWNER, granted_to=[agent.id])
    await scenario.given(agent, preset)

    await revoke(scenario, preset, agent.id)

    await scenario.then(("model_preset.grant_revoked", OWNER))


async def test_the_preset_must_be_there(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    preset = preset_of(OWNER, public=True)
    preset.retire()
    await scenario.given(agent, preset)

    for step in (grant, revoke):
        await step(scenario, preset, agent.id)
        await scenario.then_refused(NotFoundError)


async def test_a_stale_version_is_refused(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    preset = preset_of(OWNER, granted_to=[agent.id])
    await scenario.given(agent, preset)

    for step in (grant, revoke):
        await step(scenario, preset, agent.id, if_match=1)
        await scenario.then_refused(PreconditionFailedError)
    await revoke(scenario, preset, agent.id, if_match=2)
    await scenario.then(("model_preset.grant_revoked", OWNER))


async def test_there_are_so_many_grants_and_no_more(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregate, "GRANTS_MAX", 2)
    agents = [agent_of(MANAGER) for _ in range(3)]
    preset = preset_of(OWNER)
    await scenario.given(*agents, preset)

    for agent in agents[:2]:
        await grant(scenario, preset, agent.id)
        await scenario.then(("model_preset.granted_to_agent", OWNER))
    await grant(scenario, preset, agents[2].id)
    await scenario.then_refused(ConflictError)
    assert scenario.error is not None
    assert scenario.error.code == "limit_reached"
    # One that it has is no further one.
    await grant(scenario, preset, agents[0].id)
    await scenario.then()
    await revoke(scenario, preset, agents[0].id)
    await grant(scenario, preset, agents[2].id)
    await scenario.then(("model_preset.granted_to_agent", OWNER))


def test_grants_are_found_in_any_order() -> None:
    preset = preset_of(OWNER)
    ids = [UUID(int=number) for number in (5, 1, 9, 3)]
    for each in ids:
        assert preset.grant(each) is True
    assert preset.granted_to == sorted(map(str, ids))
    assert preset.revoke(UUID(int=3)) is True

    there = [number for number in range(11) if preset.is_granted_to(UUID(int=number))]
    assert there == [1, 5, 9]
    assert GRANTS_MAX == 2000


def test_replaying_the_events_gives_the_preset_back() -> None:
    preset = preset_of(OWNER, granted_to=[UUID(int=2), UUID(int=1)])
    preset.revoke(UUID(int=2))
    preset.edit({**preset.terms, "visibility": "public"})

    replayed = None
    for event in preset.pending_events:
        replayed = event.mutate(replayed)

    assert isinstance(replayed, ModelPreset)
    assert replayed.terms == preset.terms
    assert replayed.granted_to == [str(UUID(int=1))]
    assert (replayed.is_public, replayed.version) == (True, 5)
