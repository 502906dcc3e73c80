"""Restoring a routing: what leads nowhere now is left out."""

from uuid import UUID, uuid4

import pytest

from service.errors import ConflictError, ForbiddenError, NotFoundError, ServiceError
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.commands import RestoreRouting, restore_routing
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


async def restore(
    scenario: Scenario, agent_id: UUID, said: RoutingTerms, by: Principal = MANAGER
) -> None:
    command = RestoreRouting(agent_id=agent_id, terms=said)
    await scenario.when(restore_routing, command, by=by)


async def test_what_the_agent_may_still_call_is_restored(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    granted = preset_of(OWNER, granted_to=[agent.id])
    revoked, retired = preset_of(OWNER), preset_of(OWNER, public=True)
    retired.retire()
    registry = tiers_of(fast=granted)
    now = routing_of(agent.id, to_preset("now", granted))
    await scenario.given(agent, granted, revoked, retired, registry, now)
    then = routed(
        to_preset("a", granted),
        to_preset("b", revoked),
        to_preset("c", retired),
        to_preset("d", uuid4()),
        to_tier("e", "fast"),
        to_tier("f", "gone"),
        to_tier("g", "own"),
        to_tier("h", "own-revoked"),
        **{"own": granted, "own-revoked": revoked},
    )

    await restore(scenario, agent.id, then)

    await scenario.then(("model_routing.replaced", MANAGER))
    kept = routed(
        to_preset("a", granted),
        to_tier("e", "fast"),
        to_tier("g", "own"),
        own=granted,
    )
    (event,) = [each.event for each in await scenario.recorded()]
    assert event.terms == scenario.result.after == kept
    assert scenario.result.version == 3

    await restore(scenario, agent.id, then)
    await scenario.then()
    assert scenario.result.has_changed is False


async def test_a_route_never_leads_elsewhere_than_it_did(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    revoked, public = preset_of(OWNER), preset_of(OWNER, public=True)
    await scenario.given(agent, revoked, public, tiers_of(fast=public))

    await restore(scenario, agent.id, routed(to_tier("a", "fast"), fast=revoked))

    # Not to the registry's tier of that name.
    await scenario.then()
    assert scenario.result.after == NO_ROUTES


async def test_nothing_is_left_of_a_routing_that_leads_nowhere(
    scenario: Scenario,
) -> None:
    agent, gone = agent_of(MANAGER), uuid4()
    await scenario.given(agent)

    await restore(scenario, agent.id, routed(to_preset("*", gone), spare=gone))

    await scenario.then()
    assert (scenario.result.after, scenario.result.version) == (NO_ROUTES, 0)


async def test_the_first_routing_may_be_restored_to_an_agent(
    scenario: Scenario,
) -> None:
    agent, preset = agent_of(MANAGER), preset_of(OWNER, public=True)
    await scenario.given(agent, preset)

    await restore(scenario, agent.id, routed(to_preset("*", preset)), by=ROOT)

    await scenario.then(
        ("model_routing.created", ROOT), ("model_routing.replaced", ROOT)
    )


@pytest.mark.parametrize(
    ("caller", "kind"),
    [(AUDITOR, ForbiddenError), (STRANGER, NotFoundError), (OWNER, NotFoundError)],
)
async def test_managers_alone_restore(
    scenario: Scenario, caller: Principal, kind: type[ServiceError]
) -> None:
    agent = agent_of(MANAGER)
    await scenario.given(agent)

    await restore(scenario, agent.id, NO_ROUTES, by=caller)

    await scenario.then_refused(kind)


async def test_nothing_is_restored_to_a_retired_agent(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    agent.retire()
    await scenario.given(agent)

    await restore(scenario, agent.id, NO_ROUTES)

    await scenario.then_refused(ConflictError)


def test_a_routing_is_said_in_words() -> None:
    routing = routing_of(UUID(int=1), to_preset("now", UUID(int=2)))
    routing.replace(
        routed(to_preset("a*", UUID(int=2)), to_tier("b", "fast"), fast=UUID(int=3))
    )
    routing.replace(NO_ROUTES)
    names = {str(UUID(int=1)): "Triage", str(UUID(int=2)): "P", str(UUID(int=3)): "Q"}

    created, _, replaced, removed = [
        each.sentence(lambda known: names[known])
        for each in routing.pending_events
        if isinstance(each, ModelRouting.Created | ModelRouting.Replaced)
    ]

    assert created == "began the model routing of agent Triage, with none"
    assert replaced == (
        "routed the model calls of agent Triage: a* to the preset P, b to the tier "
        "fast; of its own, fast is the preset Q"
    )
    assert removed == "removed the model routing of agent Triage"
