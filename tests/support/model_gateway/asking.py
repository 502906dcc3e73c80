"""The operations of the model gateway over HTTP, as the tests call them."""

from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from service.resources import Resources
from tests.support.callers import Caller, Reply
from tests.support.model_gateway import operations
from tests.support.rebuilding import tables

CONNECTIONS = "/api/llm-router/connections"
PRESETS = "/api/llm-router/presets"
TIERS = "/api/llm-router/tiers"


def connection_body(**other: Any) -> dict[str, Any]:
    return operations.connection(**{"credential": None, **other})


def preset_body(*groups: list[dict[str, Any]], **other: Any) -> dict[str, Any]:
    return operations.preset(*groups, **other)


async def caught_up(resources: Resources) -> None:
    """Wait until the read tables reflect the whole log."""
    for each in ("model_gateway", "agents"):
        await tables(resources, each)


async def new_connection(caller: Caller, **other: Any) -> str:
    reply = await caller.post(CONNECTIONS, connection_body(**other))
    assert reply.status == 201, reply.data
    return str(reply.data["id"])


async def new_preset(
    caller: Caller, *connections: str, model: str = "swift-1", **other: Any
) -> str:
    """Make a preset with a group for each connection."""
    groups = [[operations.target(each, model)] for each in connections]
    reply = await caller.post(PRESETS, preset_body(*groups, **other))
    assert reply.status == 201, reply.data
    return str(reply.data["id"])


def grant_path(preset_id: str, agent: UUID) -> str:
    return f"{PRESETS}/{preset_id}/agents/{agent}"


async def granted(caller: Caller, preset_id: str, agent: UUID) -> Reply:
    reply = await caller.put(grant_path(preset_id, agent))
    assert reply.status == 200, reply.data
    return reply


async def put_tiers(caller: Caller, tiers: dict[str, str], **headers: str) -> Reply:
    return await caller.put(TIERS, {"tiers": tiers}, **headers)


def to_preset(model: str, preset_id: str) -> dict[str, Any]:
    return {"model": model, "preset_id": preset_id, "tier": None}


def to_tier(model: str, tier: str) -> dict[str, Any]:
    return {"model": model, "preset_id": None, "tier": tier}


def path(agent: UUID) -> str:
    return f"/api/agents/{agent}/llm-routing"


def routing_body(
    *routes: dict[str, Any], tiers: dict[str, str] | None = None
) -> dict[str, Any]:
    return {"routes": [*routes], "tiers": tiers or {}}


async def put_routing(
    caller: Caller,
    agent: UUID,
    *routes: dict[str, Any],
    tiers: dict[str, str] | None = None,
    **headers: str,
) -> Reply:
    body = routing_body(*routes, tiers=tiers)
    return await caller.put(path(agent), body, **headers)


async def routed(
    caller: Caller,
    agent: UUID,
    *routes: dict[str, Any],
    tiers: dict[str, str] | None = None,
) -> Reply:
    """Replace a routing, which must be taken."""
    reply = await put_routing(caller, agent, *routes, tiers=tiers)
    assert reply.status == 200, reply.data
    return reply


async def explain(caller: Caller, agent: UUID, model: str, **more: object) -> Reply:
    query = urlencode({"model": model, **more}, quote_via=quote)
    return await caller.get(f"{path(agent)}/explain?{query}")


async def problems(caller: Caller, agent: UUID) -> dict[str, str | None]:
    """Return the problem of each route, as the agent's list of models has it.

    An explanation of each must say the same.
    """
    listed = await caller.get(f"{path(agent)}/models")
    assert listed.status == 200, listed.data
    found = {each["model"]: each["problem"] for each in listed.data["models"]}
    for model, problem in found.items():
        explained = await explain(caller, agent, model)
        assert explained.data["problem"] == problem, model
    return found
