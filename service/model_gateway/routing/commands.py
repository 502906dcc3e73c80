"""Replace and restore the routing of an agent's model calls: commands and handlers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from service.agents.commands import managed_agent
from service.errors import InvalidRequestError, Problem
from service.event_log.unit_of_work import UnitOfWork
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.decision import RoutingProblem, target_of
from service.model_gateway.routing.plan import problems_of
from service.model_gateway.routing.terms import ModelRoute, RoutingTerms
from service.model_gateway.tiers.aggregate import ModelTiers


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceRouting:
    """The complete routing of an agent."""

    agent_id: UUID
    terms: RoutingTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRouting:
    """The complete routing of an earlier time; what leads nowhere now is left out."""

    agent_id: UUID
    terms: RoutingTerms


class ReplacedRouting(NamedTuple):
    """The routing before and after; ``version`` is 0 if there never was any.

    ``registry`` is the preset of each tier for agents that say nothing else.
    ``problems`` says of each preset that the two lead to why it can't be called.
    """

    agent_id: UUID
    version: int
    before: RoutingTerms
    after: RoutingTerms
    registry: Mapping[str, str]
    problems: Mapping[str, RoutingProblem | None]

    @property
    def has_changed(self) -> bool:
        return self.before != self.after


class Checked(NamedTuple):
    """The part of a routing that leads somewhere, and what is wrong with the rest."""

    terms: RoutingTerms
    unknown_presets: Sequence[Problem]
    unknown_tiers: Sequence[Problem]


async def replace_routing(command: ReplaceRouting, work: UnitOfWork) -> ReplacedRouting:
    """Replace the routing.

    :raises ServiceError: as :func:`decide_replacement`
    """
    routing, replaced = await decide_replacement(command, work)
    if replaced.has_changed:
        work.save(routing)
    return replaced


async def decide_replacement(
    command: ReplaceRouting, work: UnitOfWork
) -> tuple[ModelRouting, ReplacedRouting]:
    """Return the routing after a replacement, not saved yet.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    :raises ConflictError: the agent is retired
    :raises InvalidRequestError: a route or tier names no preset that the agent may
        call, or no tier
    """
    routing = await _routing(work, command.agent_id)
    registry = await _registry(work)
    checked = await _checked(command.terms, command.agent_id, registry, work)
    if checked.unknown_presets:
        raise InvalidRequestError(
            "the agent can't be routed to a preset that doesn't exist, or that its "
            "owner hasn't granted to the agent (PUT /api/llm-router/presets/{preset_id}"
            "/agents/{agent_id})",
            code="unknown_preset",
            problems=[*checked.unknown_presets, *checked.unknown_tiers],
        )
    if checked.unknown_tiers:
        raise InvalidRequestError(
            "a route names a tier that neither the registry (GET "
            "/api/llm-router/tiers) nor `tiers` of this routing has",
            code="unknown_tier",
            problems=checked.unknown_tiers,
        )
    return routing, await _replaced(routing, command.terms, registry, work)


async def restore_routing(command: RestoreRouting, work: UnitOfWork) -> ReplacedRouting:
    """Give the agent the routing of before, without what leads nowhere now.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    :raises ConflictError: the agent is retired
    """
    routing = await _routing(work, command.agent_id)
    registry = await _registry(work)
    checked = await _checked(command.terms, command.agent_id, registry, work)
    replaced = await _replaced(routing, checked.terms, registry, work)
    if replaced.has_changed:
        work.save(routing)
    return replaced


async def _routing(work: UnitOfWork, agent_id: UUID) -> ModelRouting:
    agent = await managed_agent(work, agent_id)
    agent.refuse_if_retired()
    found = await work.find(ModelRouting, ModelRouting.id_for(agent_id))
    work.match(found)
    return found or ModelRouting(agent_id=str(agent_id))


async def _registry(work: UnitOfWork) -> Mapping[str, str]:
    registry = await work.find(ModelTiers, ModelTiers.create_id())
    return registry.tiers if registry else {}


async def _replaced(
    routing: ModelRouting,
    terms: RoutingTerms,
    registry: Mapping[str, str],
    work: UnitOfWork,
) -> ReplacedRouting:
    before, is_new = routing.terms, bool(routing.pending_events)
    changed = routing.replace(terms)
    leads_to = [
        target_of(route, each, registry).preset_id
        for each in (before, terms)
        for route in each["routes"]
    ]
    return ReplacedRouting(
        agent_id=UUID(routing.agent_id),
        version=0 if is_new and not changed else routing.version,
        before=before,
        after=terms,
        registry=registry,
        problems=await problems_of(leads_to, UUID(routing.agent_id), work),
    )


async def _checked(
    terms: RoutingTerms,
    agent_id: UUID,
    registry: Mapping[str, str],
    work: UnitOfWork,
) -> Checked:
    async def may_call(preset_id: str) -> bool:
        preset = await work.find(ModelPreset, UUID(preset_id))
        return preset is not None and preset.may_be_called_by(agent_id)

    unknown_presets, unknown_tiers = [], []
    tiers: dict[str, str] = {}
    for tier, preset_id in terms["tiers"].items():
        if await may_call(preset_id):
            tiers[tier] = preset_id
        else:
            unknown_presets.append(Problem(f"tiers.{tier}", "no such preset"))
    routes: list[ModelRoute] = []
    for number, route in enumerate(terms["routes"]):
        preset, named = route["preset_id"], route["tier"]
        if preset is not None and not await may_call(preset):
            path = f"routes[{number}].preset_id"
            unknown_presets.append(Problem(path, "no such preset"))
        elif named is not None and named in terms["tiers"]:
            # Without its own tier a route would lead to the registry's instead. What is
            # wrong with the tier is said already.
            if named in tiers:
                routes.append(route)
        elif named is not None and named not in registry:
            unknown_tiers.append(Problem(f"routes[{number}].tier", "no such tier"))
        else:
            routes.append(route)
    kept: RoutingTerms = {"routes": routes, "tiers": tiers}
    return Checked(kept, unknown_presets, unknown_tiers)
