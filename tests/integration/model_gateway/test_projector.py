"""Events of connections, presets, tiers and routing in the read tables."""

import random
from uuid import UUID

import pytest

from service.resources import Resources
from tests.support.connectors.making import OWNER
from tests.support.model_gateway.making import (
    connection_of,
    preset_of,
    routed,
    routing_of,
    settings,
    tiers_of,
    to_preset,
    to_tier,
)
from tests.support.rebuilding import expect_rebuild_equals_live, tables
from tests.support.scenario import Scenario

FIRST, SECOND, THIRD = UUID(int=1), UUID(int=2), UUID(int=3)
AT = '"2026-03-01 12:00:00+00","2026-03-01 12:00:00+00"'
NAME = "model_gateway"

pytestmark = pytest.mark.usefixtures("client")


async def test_connections_are_held_as_they_are_now(
    scenario: Scenario, resources: Resources
) -> None:
    within, across = connection_of(OWNER), connection_of(OWNER)
    within.edit(settings(name="Within"))
    within.retire()
    await scenario.given(within, across)
    across.edit(settings(name="Across"))
    await scenario.given(across)

    rows = (await tables(resources, NAME))["model_connection"]

    found = {row[1:37]: row for row in rows}
    assert found.keys() == {str(within.id), str(across.id)}
    assert found[str(within.id)].endswith(f",t,3,{AT})")
    assert found[str(across.id)].endswith(f",f,2,{AT})")
    assert "Within" in found[str(within.id)]
    assert "Across" in found[str(across.id)]


async def test_grants_follow_their_events_within_a_batch_and_across(
    scenario: Scenario, resources: Resources
) -> None:
    preset = preset_of(OWNER, granted_to=[FIRST, SECOND])
    preset.revoke(FIRST)
    preset.grant(THIRD)
    await scenario.given(preset)
    assert (await tables(resources, NAME))["model_preset_grant"] == [
        f"({preset.id},{SECOND})",
        f"({preset.id},{THIRD})",
    ]

    preset.revoke(SECOND)
    preset.grant(SECOND)
    preset.revoke(THIRD)
    preset.grant(FIRST)
    preset.edit({**preset.terms, "visibility": "public"})
    await scenario.given(preset)

    rows = await tables(resources, NAME)
    assert rows["model_preset_grant"] == [
        f"({preset.id},{FIRST})",
        f"({preset.id},{SECOND})",
    ]
    (row,) = rows["model_preset"]
    assert row.endswith(f",t,f,{preset.version},{AT})")


@pytest.mark.parametrize("batches", [1, 2])
async def test_nothing_is_granted_of_a_retired_preset(
    scenario: Scenario, resources: Resources, batches: int
) -> None:
    kept, retired = preset_of(OWNER), preset_of(OWNER, granted_to=[FIRST])
    kept.grant(FIRST)
    if batches == 2:
        await scenario.given(kept, retired)
    retired.grant(SECOND)
    retired.retire()
    await scenario.given(kept, retired)

    rows = await tables(resources, NAME)

    assert rows["model_preset_grant"] == [f"({kept.id},{FIRST})"]
    (row,) = [each for each in rows["model_preset"] if str(retired.id) in each]
    assert row.endswith(f",f,t,4,{AT})")


async def test_the_registry_is_held_as_it_is_now(
    scenario: Scenario, resources: Resources
) -> None:
    registry = tiers_of(a=FIRST, b=FIRST, c=FIRST)
    registry.replace({"a": str(SECOND), "c": str(FIRST)})
    await scenario.given(registry)
    assert (await tables(resources, NAME))["model_tier"] == [
        f"(a,{SECOND})",
        f"(c,{FIRST})",
    ]

    registry.replace({"b": str(THIRD), "c": str(SECOND)})
    await scenario.given(registry)

    assert (await tables(resources, NAME))["model_tier"] == [
        f"(b,{THIRD})",
        f"(c,{SECOND})",
    ]
    registry.replace({})
    await scenario.given(registry)
    assert (await tables(resources, NAME))["model_tier"] == []


async def test_routes_say_who_decides_on_their_preset(
    scenario: Scenario, resources: Resources
) -> None:
    first = routing_of(FIRST, to_preset("gone", THIRD))
    second = routing_of(SECOND, to_preset("*", THIRD))
    first.replace(
        routed(
            to_tier("b", "own"),
            to_preset("a", SECOND),
            to_tier("c", "fast"),
            own=THIRD,
            spare=FIRST,
        )
    )
    await scenario.given(first, second)

    assert (await tables(resources, NAME))["model_route"] == [
        f"({FIRST},0,b,{THIRD},own,t)",
        f"({FIRST},1,a,{SECOND},,f)",
        f"({FIRST},2,c,,fast,f)",
        f"({SECOND},0,*,{THIRD},,f)",
    ]

    first.replace(routed(to_tier("b", "own"), own=FIRST))
    second.replace(routed())
    await scenario.given(first, second)

    assert (await tables(resources, NAME))["model_route"] == [
        f"({FIRST},0,b,{FIRST},own,t)"
    ]


async def test_rebuilt_tables_equal_live_ones(
    scenario: Scenario, resources: Resources
) -> None:
    chance = random.Random(7)  # noqa: S311  # a fixed course of events
    agents = [FIRST, SECOND, THIRD]
    connections = [connection_of(OWNER) for _ in range(4)]
    presets = [preset_of(OWNER, each) for each in connections]
    registry = tiers_of(fast=presets[0])
    routings = [routing_of(each, to_tier("*", "fast")) for each in agents]
    await scenario.given(*connections, *presets, registry, *routings)
    for number in range(25):
        connection, preset = chance.choice(connections), chance.choice(presets)
        connection.edit(settings(name=f"C{number}"))
        match chance.randrange(4):
            case 0:
                preset.edit({**preset.terms, "name": f"P{number}"})
            case 1:
                visibility = chance.choice(["private", "public"])
                preset.edit({**preset.terms, "visibility": visibility})  # type: ignore[typeddict-item]  # one of them
            case 2:
                preset.grant(chance.choice(agents))
            case 3:
                preset.revoke(chance.choice(agents))
        registry.replace(
            {
                tier: str(preset.id)
                for tier in chance.sample("abcd", chance.randrange(4))
            }
        )
        routing = chance.choice(routings)
        routing.replace(
            routed(
                *[
                    to_tier(f"m{each}", chance.choice("abcd"))
                    for each in range(chance.randrange(4))
                ],
                to_preset("*", preset),
                a=preset,
            )
        )
        await scenario.given(connection, preset, registry, routing)
    registry.replace({"a": str(presets[1].id)})
    presets[0].grant(FIRST)
    presets[1].grant(FIRST)
    presets[0].retire()
    connections[0].retire()
    await scenario.given(registry, presets[0], presets[1], connections[0])

    await expect_rebuild_equals_live(resources, NAME)
