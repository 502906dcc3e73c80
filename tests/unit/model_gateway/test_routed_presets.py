"""Which presets and tiers an agent's routing may name."""

from uuid import uuid4

import pytest

from service.agents.aggregate import Agent
from service.errors import InvalidRequestError
from tests.support.connectors.making import MANAGER, OWNER
from tests.support.model_gateway.making import (
    preset_of,
    routed,
    tiers_of,
    to_preset,
    to_tier,
)
from tests.support.scenario import Scenario
from tests.unit.model_gateway.test_routing import agent, replace

__all__ = ["agent"]


async def refused(scenario: Scenario, code: str) -> list[str]:
    await scenario.then_refused(InvalidRequestError)
    assert scenario.error is not None
    assert scenario.error.code == code
    return [each.path for each in scenario.error.problems]


@pytest.mark.parametrize(
    ("visibility", "taken"),
    [
        ("public", True),
        ("granted", True),
        ("private", False),
        ("granted to another", False),
        ("revoked", False),
        ("made private", False),
        ("public and revoked", True),
        ("retired", False),
        ("retired, granted", False),
        ("unknown", False),
    ],
)
async def test_which_presets_an_agent_is_routed_to(
    scenario: Scenario, agent: Agent, *, visibility: str, taken: bool
) -> None:
    preset = preset_of(
        OWNER,
        public=visibility
        in ("public", "made private", "public and revoked", "retired"),
    )
    match visibility:
        case "granted" | "retired, granted":
            preset.grant(agent.id)
        case "granted to another":
            preset.grant(uuid4())
        case "revoked" | "public and revoked":
            preset.grant(agent.id)
            preset.revoke(agent.id)
        case "made private":
            preset.edit({**preset.terms, "visibility": "private"})
    if visibility.startswith("retired"):
        preset.retire()
    if visibility != "unknown":
        await scenario.given(preset)

    await replace(scenario, agent.id, routed(to_preset("*", preset)))
    if taken:
        await scenario.then(
            ("model_routing.created", MANAGER), ("model_routing.replaced", MANAGER)
        )
    else:
        assert await refused(scenario, "unknown_preset") == ["routes[0].preset_id"]
    await replace(scenario, agent.id, routed(spare=preset))
    if taken:
        await scenario.then(("model_routing.replaced", MANAGER))
    else:
        assert await refused(scenario, "unknown_preset") == ["tiers.spare"]


async def test_a_manager_who_owns_a_private_preset_grants_it_first(
    scenario: Scenario, agent: Agent
) -> None:
    preset = preset_of(MANAGER)
    await scenario.given(preset)

    await replace(scenario, agent.id, routed(to_preset("*", preset)))

    assert await refused(scenario, "unknown_preset") == ["routes[0].preset_id"]


async def test_each_unknown_preset_and_tier_is_named(
    scenario: Scenario, agent: Agent
) -> None:
    preset, private = preset_of(OWNER, public=True), preset_of(OWNER)
    await scenario.given(preset, private, tiers_of(fast=preset))

    await replace(
        scenario,
        agent.id,
        routed(
            to_preset("a", preset),
            to_preset("b", private),
            to_tier("c", "fast"),
            to_tier("d", "slow"),
            to_preset("e", uuid4()),
            smart=private,
        ),
    )

    assert await refused(scenario, "unknown_preset") == [
        "tiers.smart",
        "routes[1].preset_id",
        "routes[4].preset_id",
        "routes[3].tier",
    ]


async def test_a_tier_is_of_the_registry_or_of_the_routing_itself(
    scenario: Scenario, agent: Agent
) -> None:
    preset = preset_of(OWNER, public=True)
    registry = tiers_of(fast=preset, gone=preset)
    registry.replace({"fast": str(preset.id)})
    await scenario.given(preset, registry)

    await replace(
        scenario,
        agent.id,
        routed(to_tier("a", "fast"), to_tier("b", "gone"), to_tier("c", "FAST")),
    )
    paths = await refused(scenario, "unknown_tier")
    assert paths == ["routes[1].tier", "routes[2].tier"]
    await replace(
        scenario,
        agent.id,
        routed(to_tier("a", "fast"), to_tier("b", "gone"), gone=preset),
    )
    await scenario.then(
        ("model_routing.created", MANAGER), ("model_routing.replaced", MANAGER)
    )


async def test_a_tier_of_the_registry_is_taken_before_its_preset_is_granted(
    scenario: Scenario, agent: Agent
) -> None:
    # Its preset may be granted later, and another one may stand for it tomorrow.
    private = preset_of(OWNER)
    await scenario.given(private, tiers_of(fast=private))

    await replace(scenario, agent.id, routed(to_tier("*", "fast")))

    await scenario.then(
        ("model_routing.created", MANAGER), ("model_routing.replaced", MANAGER)
    )
