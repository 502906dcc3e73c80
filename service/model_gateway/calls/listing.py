"""The models that an agent may call, by names that its clients can send."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.event_log.finder import Finder
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.decision import deciding_route, target_of
from service.model_gateway.routing.plan import Plan, plan_for
from service.model_gateway.tiers.aggregate import ModelTiers
from service.pacing import Pace
from service.tool_rules.glob import has_wildcard, matches


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableModel:
    """A name that a client may send; ``provider`` is that of its first target."""

    name: str
    provider: str
    routed_at: datetime


async def callable_models(
    agent_id: UUID, dialects: Container[str], finder: Finder
) -> Sequence[CallableModel]:
    """Return the names of models that can be called in one of some dialects.

    Of a route with wildcards they are those of its targets' models that it matches:
    which others there are, nobody can say. In the order of the routes, each once.
    """
    routing = await finder.find(ModelRouting, ModelRouting.id_for(agent_id))
    if routing is None:
        return []
    tiers = await finder.find(ModelTiers, ModelTiers.create_id())
    plans: dict[str | None, Plan | None] = {None: None}
    found: dict[str, CallableModel] = {}
    pace = Pace()
    for number, route in enumerate(routing.terms["routes"]):
        leads_to = target_of(route, routing.terms, tiers.tiers if tiers else {})
        preset_id = leads_to.preset_id
        if preset_id is not None and preset_id not in plans:
            plans[preset_id] = await plan_for(preset_id, agent_id, finder)
        plan = plans[preset_id]
        if plan is None or not any(each in dialects for each in plan.dialects):
            continue
        for name in _names(route["model"], plan):
            await pace.pause()
            if deciding_route(name, routing.terms) == number:
                found.setdefault(
                    name,
                    CallableModel(
                        name=name,
                        provider=plan.targets[0].connection.settings["provider"],
                        routed_at=routing.modified_on,
                    ),
                )
    return list(found.values())


def _names(pattern: str, plan: Plan) -> list[str]:
    if not has_wildcard(pattern):
        return [pattern]
    models = (each.target["model"] for each in plan.targets)
    return [model for model in models if matches(pattern, model)]
