"""One approval covers a call in all rounds that its upstream asks for."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from mcp import Client, types

from service.config import Config
from service.gateway.protocol.revisions import (
    CAPABILITIES_KEY,
    STATELESS,
)
from tests.integration.gateway.plain_upstream import (
    PlainUpstream,
    answered,
    plain_upstream,
)
from tests.integration.gateway.stage import official_client
from tests.integration.gateway.world import ASK, World, tool
from tests.support.callers import Reply
from tests.support.configured import calling_loopback
from tests.support.gateway.served import stateless

SCHEMA = {"type": "object", "properties": {"value": {"type": "string"}}}
FORM = {"mode": "form", "message": "?", "requestedSchema": SCHEMA}
QUESTIONS = ("name", "colour")


async def ask_twice(_request: web.Request, body: Any) -> web.StreamResponse:
    """Ask for a name and then a colour; the first is kept in the state, if it may."""
    params = body["params"]
    given = params.get("inputResponses", {})
    kept = params.get("requestState", "").split()
    known = [*kept, *(given[each]["content"]["value"] for each in given)]
    if len(known) == len(QUESTIONS):
        return answered(body, {"content": [{"type": "text", "text": " ".join(known)}]})
    question = {"method": "elicitation/create", "params": FORM}
    asks = {"inputRequests": {QUESTIONS[len(known)]: question}}
    state = {"requestState": " ".join(known)} if known else {}
    return answered(body, {"resultType": "input_required", **asks, **state})


@pytest.fixture
def config() -> Config:
    return calling_loopback()


@pytest.fixture
async def upstream() -> AsyncIterator[PlainUpstream]:
    async with plain_upstream(ask_twice) as upstream:
        yield upstream


@pytest.fixture
async def asking(world: World, upstream: PlainUpstream) -> World:
    """The world's connector is the upstream, whose tool is asked about."""
    await world.moves(upstream.url)
    await world.lists(tool("mix"))
    await world.rule(mix=ASK)
    return world


def forwarded(upstream: PlainUpstream) -> int:
    """The calls, without observations of the list."""
    return sum(body["method"] == "tools/call" for _, body in upstream.requests)


async def approve(world: World) -> Reply:
    requested = await world.recorded("approvals.requested")
    path = f"{world.agent}/approvals/{requested[-1].event.approval_id}/approve"
    return await world.ada.post(path, {})


@asynccontextmanager
async def answering(world: World) -> AsyncIterator[Client]:
    """The official client, whose user answers what it is asked."""
    answers = iter(["Ada", "blue"])

    async def answer(_context: Any, _params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"value": next(answers)})

    path = f"/mcp/agents/{world.agent_id}/connectors/{world.connector_id}"
    async with official_client(
        world.client, path, world.token, STATELESS, elicitation_callback=answer
    ) as client:
        yield client


async def test_one_approval_is_asked_for_and_used(
    asking: World, upstream: PlainUpstream
) -> None:
    async with answering(asking) as client:
        await client.list_tools()
        pending = await client.call_tool("mix", {"litres": 1})
        await approve(asking)
        done = await client.call_tool("mix", {"litres": 1})
        again = await client.call_tool("mix", {"litres": 1})

    assert (pending.is_error, again.is_error) == (True, True)
    assert isinstance(done.content[0], types.TextContent)
    assert done.content[0].text == "Ada blue"
    assert forwarded(upstream) == 3
    topics = [each.topic for each in await asking.recorded()]
    assert topics.count("approvals.requested") == 2
    assert topics.count("approvals.used") == 1
    assert topics.count("tool_call.continued") == 2
    admitted = await asking.recorded("tool_call.admitted")
    assert len(admitted) == 3
    assert len({each.event.approval_id for each in admitted}) == 1
    continued = await asking.recorded("tool_call.continued")
    assert [each.event.next_call_id for each in continued] == [
        str(each.aggregate_id) for each in admitted[1:]
    ]


async def post(world: World, **params: Any) -> Mapping[str, Any]:
    meta: Any = {CAPABILITIES_KEY: {"elicitation": {"form": {}}}}
    given = {"name": "mix", "arguments": {}, "_meta": meta, **params}
    body, headers = stateless("tools/call", given)
    reply = await world.client.post(
        f"/mcp/agents/{world.agent_id}/connectors/{world.connector_id}",
        json=body,
        headers={"Authorization": f"Bearer {world.token}", **headers},
    )
    result: Mapping[str, Any] = (await reply.json())["result"]
    return result


def named(state: str) -> dict[str, Any]:
    response = {"action": "accept", "content": {"value": "Ada"}}
    return {"requestState": state, "inputResponses": {"name": response}}


async def test_a_round_is_continued_once(
    asking: World, upstream: PlainUpstream
) -> None:
    await post(asking)
    await approve(asking)
    first = await post(asking)
    second = await post(asking, **named(first["requestState"]))

    repeated = await post(asking, **named(first["requestState"]))

    assert second["resultType"] == "input_required"
    assert repeated["isError"]
    assert "a person has to approve" in repeated["content"][0]["text"]
    assert forwarded(upstream) == 2


async def test_a_round_is_decided_anew(asking: World, upstream: PlainUpstream) -> None:
    await post(asking)
    await approve(asking)
    first = await post(asking)
    await asking.lists(tool("mix", description="Mix it with sand."))
    await asking.accept("mix")

    second = await post(asking, **named(first["requestState"]))

    assert second["isError"]
    assert forwarded(upstream) == 1
