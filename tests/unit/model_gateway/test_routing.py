"""An agent's routing: who replaces it, and what is refused and recorded."""

from uuid import UUID, uuid4

import pytest

from service.agents.aggregate import Agent
from service.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PreconditionFailedError,
    ServiceError,
)
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.commands import (
    ReplaceRouting,
    decide_replacement,
    replace_routing,
)
from service.model_gateway.routing.terms import NO_ROUTES, RoutingTerms
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
    preset_of,
    routed,
    routing_of,
    tiers_of,
    to_preset,
    to_tier,
)
from tests.support.scenario import Scenario


@pytest.fixture
async def agent(scenario: Scenario) -> Agent:
    agent = agent_of(MANAGER)
    await scenario.given(agent)
    return agent


async def replace(
    scenario: Scenario,
    agent_id: UUID,
    said: RoutingTerms,
    *,
    by: Principal = MANAGER,
    if_match: int | None = None,
) -> None:
    command = ReplaceRouting(agent_id=agent_id, terms=said)
    await scenario.when(replace_routing, command, by=by, if_match=if_match)


async def refused(scenario: Scenario, code: str) -> list[str]:
    await scenario.then_refused(InvalidRequestError)
    assert scenario.error is not None
    assert scenario.error.code == code
    return [each.path for each in scenario.error.problems]


@pytest.mark.parametrize("caller", [MANAGER, ROOT])
async def test_first_routes_make_the_aggregate(
    scenario: Scenario, agent: Agent, caller: Principal
) -> None:
    preset = preset_of(OWNER, granted_to=[agent.id])
    await scenario.given(preset)
    said = routed(
        to_preset("claude-*", preset), to_tier("*", "fast"), fast=preset, spare=preset
    )

    await replace(scenario, agent.id, said, by=caller, if_match=0)

    await scenario.then(
        ("model_routing.created", caller), ("model_routing.replaced", caller)
    )
    created, replaced = [each.event for each in await scenario.recorded()]
    assert created.originator_id == ModelRouting.id_for(agent.id)
    assert created.agent_id == replaced.agent_id == str(agent.id)
    assert replaced.terms == said
    result = scenario.result
    assert (result.before, result.after, result.version) == (NO_ROUTES, said, 2)
    assert result.has_changed is True


@pytest.mark.parametrize(
    ("caller", "kind"),
    [
        (AUDITOR, ForbiddenError),
        (OWNER, NotFoundError),
        (STRANGER, NotFoundError),
    ],
)
async def test_managers_alone_replace_the_routing(
    scenario: Scenario, agent: Agent, caller: Principal, kind: type[ServiceError]
) -> None:
    # Also not the owner of the preset; and no fault of the body is told before.
    preset = preset_of(OWNER, public=True)
    await scenario.given(preset)

    for said in (routed(to_preset("*", preset)), routed(to_preset("*", uuid4()))):
        await replace(scenario, agent.id, said, by=caller, if_match=9)
        await scenario.then_refused(kind)


async def test_a_reader_replaces_no_routing(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    agent.appoint_reader(STRANGER.user_id)
    await scenario.given(agent)

    await replace(scenario, agent.id, NO_ROUTES, by=STRANGER)

    await scenario.then_refused(ForbiddenError)


async def test_a_retired_agent_keeps_its_routing(scenario: Scenario) -> None:
    agent, preset = agent_of(MANAGER), preset_of(OWNER, public=True)
    routing = routing_of(agent.id, to_preset("*", preset))
    agent.retire()
    await scenario.given(agent, preset, routing)

    for caller in (MANAGER, ROOT):
        await replace(scenario, agent.id, NO_ROUTES, by=caller)
        await scenario.then_refused(ConflictError)
        assert scenario.error is not None
        assert scenario.error.code == "agent_retired"


async def test_an_unknown_agent_has_no_routing(scenario: Scenario) -> None:
    for caller in (MANAGER, ROOT):
        await replace(scenario, uuid4(), NO_ROUTES, by=caller)
        await scenario.then_refused(NotFoundError)


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


async def test_the_same_routing_is_nothing_to_do(
    scenario: Scenario, agent: Agent
) -> None:
    preset = preset_of(OWNER, public=True)
    routes = to_preset("a", preset), to_tier("b", "fast")
    await scenario.given(preset, routing_of(agent.id, *routes, fast=preset))

    await replace(scenario, agent.id, routed(*routes, fast=preset))

    await scenario.then()
    assert (scenario.result.version, scenario.result.has_changed) == (2, False)


async def test_another_order_is_another_routing(
    scenario: Scenario, agent: Agent
) -> None:
    preset = preset_of(OWNER, public=True)
    first, second = to_preset("a", preset), to_preset("*", preset)
    await scenario.given(preset, routing_of(agent.id, first, second))

    await replace(scenario, agent.id, routed(second, first))

    await scenario.then(("model_routing.replaced", MANAGER))
    assert scenario.result.after["routes"] == [second, first]


async def test_no_routes_for_an_agent_without_any_are_nothing_to_do(
    scenario: Scenario, agent: Agent
) -> None:
    await replace(scenario, agent.id, routed(), if_match=0)

    await scenario.then()
    assert (scenario.result.version, scenario.result.has_changed) == (0, False)


async def test_removing_all_routes_is_recorded(
    scenario: Scenario, agent: Agent
) -> None:
    preset = preset_of(OWNER, public=True)
    await scenario.given(preset, routing_of(agent.id, to_preset("*", preset)))

    await replace(scenario, agent.id, routed())

    await scenario.then(("model_routing.replaced", MANAGER))
    assert (scenario.result.version, scenario.result.after) == (3, NO_ROUTES)


async def test_a_stale_version_is_refused(scenario: Scenario, agent: Agent) -> None:
    preset = preset_of(OWNER, public=True)
    await scenario.given(preset, routing_of(agent.id, to_preset("*", preset)))

    for stale in (0, 1, 3):
        await replace(scenario, agent.id, routed(), if_match=stale)
        await scenario.then_refused(PreconditionFailedError)
    await replace(scenario, agent.id, routed(), if_match=2)
    await scenario.then(("model_routing.replaced", MANAGER))


async def test_deciding_records_nothing(scenario: Scenario, agent: Agent) -> None:
    preset = preset_of(OWNER, public=True)
    await scenario.given(preset)
    said = routed(to_preset("*", preset))
    command = ReplaceRouting(agent_id=agent.id, terms=said)

    for _ in range(2):
        await scenario.when(decide_replacement, command, by=MANAGER)
        await scenario.then()
        assert scenario.result[1].before == NO_ROUTES
        assert scenario.result[1].after == said


def test_replaying_the_events_gives_the_routing_back() -> None:
    routing = routing_of(UUID(int=1), to_preset("a", UUID(int=2)))
    last = routed(to_tier("*", "fast"), fast=UUID(int=3))
    routing.replace(last)
    assert routing.replace(last) is False

    replayed = None
    for event in routing.pending_events:
        replayed = event.mutate(replayed)

    assert isinstance(replayed, ModelRouting)
    assert (replayed.terms, replayed.version) == (last, 3)
    assert replayed.agent_id == str(UUID(int=1))
