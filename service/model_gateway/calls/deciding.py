"""Decide by what the log says which preset answers a call, or that none does."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from service.agent_tokens.caller import Caller
from service.agents.aggregate import Agent
from service.call_recording.modes import RecordMode
from service.errors import MalformedRequestError, NotFoundError
from service.event_log.finder import Finder
from service.identifiers import id_text
from service.model_gateway.dialects import Dialect
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.decision import deciding_route, target_of
from service.model_gateway.routing.plan import Plan, PlannedTarget, plan_for
from service.model_gateway.tiers.aggregate import ModelTiers
from service.secrets.sent import NamedSecret, find_named


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A model call that an agent asks for; ``model`` is the name that it sends."""

    caller: Caller
    dialect: Dialect
    model: str
    request_id: str
    traceparent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedCall:
    """The preset that answers a call, and why: the route's pattern, and its tier.

    ``versions`` are those of what was read.
    """

    plan: Plan
    route: str
    tier: str | None
    versions: Mapping[str, int]

    @property
    def mode(self) -> RecordMode:
        """Return how the call is recorded: batched if all its targets are."""
        modes = {each.connection.settings["record_mode"] for each in self.plan.targets}
        is_batched = modes == {RecordMode.BATCHED}
        return RecordMode.BATCHED if is_batched else RecordMode.STRICT


class ModelNotFoundError(NotFoundError):
    """One and the same for a name without a route, and one that may not be called.

    Which of them it is would say what exists.
    """

    code = "model_not_found"

    def __init__(self) -> None:
        super().__init__(
            "there is no such model for this agent; GET /v1/models of this base URL "
            "lists those that there are"
        )


class NoTargetError(NotFoundError):
    """The agent may call the model, and none of its targets can be called."""

    code = "no_target"

    def __init__(self, agent_id: UUID) -> None:
        super().__init__(
            "this model has no target that can be called; GET "
            f"/api/agents/{id_text(agent_id)}/llm-routing/models says why to the "
            "agent's managers"
        )


class WrongDialectError(MalformedRequestError):
    """The targets of the model don't all speak what the client does."""

    code = "wrong_dialect"

    def __init__(self, plan: Plan) -> None:
        spoken = ", ".join(plan.dialects) or "none in common"
        super().__init__(
            "this model can't be called in this dialect; the dialects of its targets: "
            f"{spoken}"
        )


async def route_call(call: CallRequest, finder: Finder) -> RoutedCall:
    """Return the preset that answers a call, with its targets.

    :raises ServiceError: none does
    """
    agent_id = call.caller.agent_id
    agent = await finder.find(Agent, agent_id)
    routing = await finder.find(ModelRouting, ModelRouting.id_for(agent_id))
    if agent is None or agent.is_retired or routing is None:
        raise ModelNotFoundError
    number = deciding_route(call.model, routing.terms)
    if number is None:
        raise ModelNotFoundError
    route = routing.terms["routes"][number]
    tiers: ModelTiers | None = None
    if route["tier"] is not None and route["tier"] not in routing.terms["tiers"]:
        tiers = await finder.find(ModelTiers, ModelTiers.create_id())
    found = target_of(route, routing.terms, tiers.tiers if tiers else {})
    if found.preset_id is None:
        raise ModelNotFoundError
    plan = await plan_for(found.preset_id, agent_id, finder)
    if plan is None:
        raise ModelNotFoundError
    if not plan.targets:
        raise NoTargetError(agent_id)
    if call.dialect not in plan.dialects:
        raise WrongDialectError(plan)
    versions = {
        "agent": agent.version,
        "routing": routing.version,
        "preset": plan.preset.version,
    }
    if tiers is not None:
        versions["tiers"] = tiers.version
    return RoutedCall(
        plan=plan, route=route["model"], tier=route["tier"], versions=versions
    )


async def secret_of(target: PlannedTarget, finder: Finder) -> NamedSecret | None:
    """Return the secret that calls of a target send; None if there is none."""
    connection = target.connection
    credential = connection.settings["credential"]
    if credential is None:
        return None
    return await find_named(
        finder,
        UUID(connection.owner_id),
        credential["secret_name"],
        header=credential["header"],
        scheme=credential["scheme"],
    )
