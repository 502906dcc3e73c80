"""An agent's routing: who replaces it, and what is refused and recorded."""

from uuid import UUID, uuid4

import pytest

from service.agents.aggregate import Agent
from service.errors import (
    ConflictError,
    ForbiddenError,
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
