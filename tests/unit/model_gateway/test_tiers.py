"""The registry of tiers: superusers alone change it, and what is recorded."""

from collections.abc import Mapping
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    PreconditionFailedError,
)
from service.model_gateway.tiers.aggregate import ModelTiers
from service.model_gateway.tiers.commands import (
    ReplaceTiers,
    RestoreTiers,
    decide_replacement,
    replace_tiers,
    restore_tiers,
)
from service.principal import Principal
from tests.support.connectors.making import AUDITOR, OWNER, ROOT, STRANGER
from tests.support.model_gateway.making import preset_of, tiers_of
from tests.support.scenario import Scenario

NAMES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("PQR"), max_size=4)


async def replace(
    scenario: Scenario,
    tiers: Mapping[str, UUID],
    *,
    by: Principal = ROOT,
    if_match: int | None = None,
) -> None:
    command = ReplaceTiers(tiers={name: str(each) for name, each in tiers.items()})
    await scenario.when(replace_tiers, command, by=by, if_match=if_match)


async def restore(scenario: Scenario, tiers: Mapping[str, UUID]) -> None:
    command = RestoreTiers(tiers={name: str(each) for name, each in tiers.items()})
    await scenario.when(restore_tiers, command, by=ROOT)


async def test_the_first_tiers_begin_the_registry(scenario: Scenario) -> None:
    # A tier may stand for a private preset of somebody else.
    preset = preset_of(OWNER)
    await scenario.given(preset)

    await replace(scenario, {"smart": preset.id, "fast": preset.id}, if_match=0)

    await scenario.then(("model_tiers.created", ROOT), ("model_tiers.replaced", ROOT))
    created, replaced = [each.event for each in await scenario.recorded()]
    assert created.originator_id == ModelTiers.create_id()
    assert list(replaced.tiers.items()) == [
        ("fast", str(preset.id)),
        ("smart", str(preset.id)),
    ]
    assert (scenario.result.version, scenario.result.before) == (2, {})


@pytest.mark.parametrize("caller", [OWNER, AUDITOR, STRANGER])
async def test_superusers_alone_change_the_registry(
    scenario: Scenario, caller: Principal
) -> None:
    preset = preset_of(OWNER, public=True)
    await scenario.given(preset)

    await replace(scenario, {"fast": preset.id}, by=caller, if_match=9)
    await scenario.then_refused(ForbiddenError)
    await replace(scenario, {"fast": uuid4()}, by=caller)
    await scenario.then_refused(ForbiddenError)
    await scenario.when(restore_tiers, RestoreTiers(tiers={}), by=caller)
    await scenario.then_refused(ForbiddenError)


async def test_only_differences_are_recorded(scenario: Scenario) -> None:
    first, second = preset_of(OWNER), preset_of(OWNER)
    registry = tiers_of(fast=first, gone=first, kept=first)
    await scenario.given(first, second, registry)

    await replace(
        scenario, {"new": second.id, "fast": second.id, "kept": first.id}, if_match=2
    )

    await scenario.then(("model_tiers.replaced", ROOT))
    (replaced,) = [each.event for each in await scenario.recorded()]
    assert replaced.tiers == {
        "fast": str(second.id),
        "gone": None,
        "new": str(second.id),
    }
    assert scenario.result.registry.tiers == {
        "fast": str(second.id),
        "kept": str(first.id),
        "new": str(second.id),
    }
    assert scenario.result.before == {
        "fast": str(first.id),
        "gone": str(first.id),
        "kept": str(first.id),
    }


async def test_the_same_tiers_are_nothing_to_do(scenario: Scenario) -> None:
    preset = preset_of(OWNER)
    await scenario.given(preset, tiers_of(a=preset, b=preset))

    await replace(scenario, {"b": preset.id, "a": preset.id})

    await scenario.then()
    assert (scenario.result.changed, scenario.result.version) == ({}, 2)


async def test_an_empty_registry_has_version_0(scenario: Scenario) -> None:
    await replace(scenario, {}, if_match=0)
    await scenario.then()
    assert scenario.result.version == 0
    await restore(scenario, {})
    await scenario.then()
    assert scenario.result.version == 0


async def test_an_emptied_registry_has_a_version(scenario: Scenario) -> None:
    preset = preset_of(OWNER)
    await scenario.given(preset, tiers_of(a=preset))

    await replace(scenario, {})
    await scenario.then(("model_tiers.replaced", ROOT))
    assert (scenario.result.registry.tiers, scenario.result.version) == ({}, 3)
    await replace(scenario, {})
    await scenario.then()
    assert scenario.result.version == 3


async def test_each_tier_without_a_preset_is_named(scenario: Scenario) -> None:
    there, retired = preset_of(OWNER), preset_of(OWNER)
    retired.retire()
    registry = tiers_of(a=there)
    await scenario.given(there, retired, registry)

    await replace(
        scenario,
        {"a": there.id, "b": retired.id, "c.d": uuid4(), "e": registry.id},
    )

    await scenario.then_refused(InvalidRequestError)
    assert scenario.error is not None
    assert scenario.error.code == "unknown_preset"
    paths = [each.path for each in scenario.error.problems]
    assert paths == ["tiers.b", "tiers.c.d", "tiers.e"]


async def test_a_stale_version_is_refused(scenario: Scenario) -> None:
    preset = preset_of(OWNER)
    await scenario.given(preset, tiers_of(a=preset))

    for stale in (0, 1, 3):
        await replace(scenario, {}, if_match=stale)
        await scenario.then_refused(PreconditionFailedError)
    await replace(scenario, {}, if_match=2)
    await scenario.then(("model_tiers.replaced", ROOT))


async def test_deciding_records_nothing(scenario: Scenario) -> None:
    preset = preset_of(OWNER)
    await scenario.given(preset)
    command = ReplaceTiers(tiers={"a": str(preset.id)})

    for _ in range(2):
        await scenario.when(decide_replacement, command, by=ROOT)
        await scenario.then()
        assert scenario.result.changed == {"a": str(preset.id)}


async def test_a_restore_leaves_out_retired_presets(scenario: Scenario) -> None:
    there, retired = preset_of(OWNER), preset_of(OWNER)
    registry = tiers_of(a=there, b=retired)
    registry.replace({"c": str(there.id)})
    retired.retire()
    await scenario.given(there, retired, registry)

    await restore(scenario, {"a": there.id, "b": retired.id})

    await scenario.then(("model_tiers.replaced", ROOT))
    (replaced,) = [each.event for each in await scenario.recorded()]
    assert replaced.tiers == {"a": str(there.id), "c": None}
    restored = scenario.result
    assert (restored.left_out, restored.version) == (["b"], 4)
    assert restored.registry.tiers == {"a": str(there.id)}
    await restore(scenario, {"a": there.id, "b": retired.id})
    await scenario.then()
    assert (scenario.result.left_out, scenario.result.version) == (["b"], 4)


@given(st.lists(NAMES, max_size=6))
def test_the_registry_has_what_it_was_given_last_and_replays_to_it(
    registries: list[dict[str, str]],
) -> None:
    registry = ModelTiers()
    held: dict[str, str] = {}
    for tiers in registries:
        events = len(registry.pending_events)
        changed = registry.replace(tiers)
        assert changed == {
            tier: tiers.get(tier)
            for tier in {*held, *tiers}
            if held.get(tier) != tiers.get(tier)
        }
        assert len(registry.pending_events) == events + bool(changed)
        assert registry.tiers == tiers
        assert list(registry.tiers) == sorted(registry.tiers)
        held = tiers

    replayed = None
    for event in registry.pending_events:
        replayed = event.mutate(replayed)
    assert isinstance(replayed, ModelTiers)
    assert replayed.tiers == held
