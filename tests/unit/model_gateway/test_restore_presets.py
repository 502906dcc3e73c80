"""Restoring the terms of a preset."""

from typing import Any
from uuid import UUID

from service.errors import ConflictError, ForbiddenError, NotFoundError
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.restore_commands import (
    RestorePreset,
    restore_preset,
)
from service.principal import Principal
from tests.support.connectors.making import OWNER, ROOT, STRANGER
from tests.support.model_gateway.making import (
    connection_of,
    preset_of,
    target,
    terms,
)
from tests.support.scenario import Scenario
from tests.unit.model_gateway.test_presets import connection, refused_paths

__all__ = ["connection"]


async def restore(
    scenario: Scenario, preset: ModelPreset, said: Any, by: Principal = OWNER
) -> None:
    command = RestorePreset(preset_id=preset.id, terms=said)
    await scenario.when(restore_preset, command, by=by)


async def test_a_restore_gives_the_terms_of_then_and_keeps_the_grants(
    scenario: Scenario, connection: ModelConnection
) -> None:
    preset = preset_of(OWNER, connection, granted_to=[UUID(int=1)])
    then = preset.terms
    preset.edit(terms([target(connection)], visibility="public"))
    await scenario.given(preset)

    await restore(scenario, preset, then)

    await scenario.then(("model_preset.edited", OWNER))
    restored = scenario.result.preset
    assert (restored.terms, restored.granted_to) == (then, [str(UUID(int=1))])
    await restore(scenario, preset, then)
    await scenario.then()
    assert scenario.result.has_changed is False


async def test_a_restore_is_refused_as_an_edit_is(
    scenario: Scenario, connection: ModelConnection
) -> None:
    preset = preset_of(OWNER, connection)
    other = connection_of(OWNER)
    other.retire()
    await scenario.given(preset, other)

    await restore(scenario, preset, terms([target(other)]))
    paths = await refused_paths(scenario, "unknown_connection")
    assert paths == ["at"]
    await restore(scenario, preset, None)
    assert await refused_paths(scenario, "nothing_to_restore", ConflictError) == []
    await restore(scenario, preset, None, by=STRANGER)
    await scenario.then_refused(NotFoundError)
    await restore(scenario, preset, terms([target(connection)]), by=ROOT)
    await scenario.then_refused(ForbiddenError)
