"""Who sees which model calls, how they are listed, and what one says of its moment."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest

from service.resources import Resources
from tests.integration.model_gateway.dialects import MESSAGES
from tests.integration.model_gateway.provider import Provider
from tests.integration.model_gateway.recorded import CALLS, call_of, calls_of
from tests.integration.model_gateway.stage import MODEL, Stage
from tests.integration.model_gateway.test_fallback import second
from tests.support.callers import Caller, Callers
from tests.support.model_gateway.asking import (
    PRESETS,
    new_preset,
    put_routing,
    routed,
    to_preset,
)
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.pricing import set_price

TRACE = "0af7651916cd43dd8448eb211c80319c"
NOBODY = "00000000-0000-4000-8000-000000000000"


async def listed(by: Caller, **query: Any) -> list[dict[str, Any]]:
    reply = await by.get(f"{CALLS}?{urlencode(query)}")
    assert reply.status == 200, reply.data
    found: list[dict[str, Any]] = reply.data["calls"]
    return found


async def one(by: Caller, call: Mapping[str, Any]) -> Any:
    """Return a call as somebody sees it; None where it isn't there."""
    reply = await by.get(f"{CALLS}/{call['id']}")
    assert reply.status in (200, 404)
    return reply.data if reply.status == 200 else None


async def test_a_call_is_seen_by_those_whom_it_concerns(
    stage: Stage, callers: Callers, stranger: Caller, root: Caller
) -> None:
    auditor = await callers.user("olga", "auditor")
    async with second(MESSAGES) as made:
        await stage.routes_to(made.url)
        assert (await stage.call(MESSAGES)).status == 200
        call = await call_of(stage)

    for by in (stage.ada, auditor, root):
        assert await listed(by) == [call]
        shown = await one(by, call)
        assert shown.pop("explanation")["leads_to"]["model"] == "*"
        assert shown == call
    assert await listed(stranger) == []
    assert await one(stranger, call) is None
    # Who owns the connection sees the call, and doesn't see the agent.
    assert await listed(stage.owner) == [call]
    assert await one(stage.owner, call) == {**call, "explanation": None}


async def test_refusals_are_not_the_connections_owners_to_see(stage: Stage) -> None:
    await put_routing(stage.ada, stage.agent)
    assert (await stage.call(MESSAGES)).status == 404
    call = await call_of(stage)

    assert await listed(stage.ada) == [call]
    assert await listed(stage.owner) == []
    assert await one(stage.owner, call) is None


async def managing(stage: Stage, user: Caller, *, as_one: bool) -> int:
    """Let a user manage the agent, or no more; return the position of that."""
    path = f"/api/catalog/agents/{stage.agent}/managers/{user.user_id}"
    reply = await stage.ada.call("PUT" if as_one else "DELETE", path)
    assert reply.status == 200, reply.data
    return reply.position


async def test_who_manages_the_agent_no_more_sees_its_calls_no_more(
    stage: Stage, callers: Callers
) -> None:
    bob = await callers.user("bob")
    async with second(MESSAGES) as made:
        await stage.routes_to(made.url)
        assert (await stage.call(MESSAGES)).status == 200
        call = await call_of(stage)

    for as_one, seen in ((True, [call]), (False, [])):
        since = await managing(stage, bob, as_one=as_one)
        reply = await bob.get(CALLS, X_Min_Position=str(since))
        assert reply.data["calls"] == seen


async def test_a_user_sees_the_calls_of_tokens_for_that_user(
    stage: Stage, callers: Callers
) -> None:
    bob, eve = await callers.user("bob"), await callers.user("eve")
    await managing(stage, bob, as_one=True)
    body = {"label": "for bob", "user_id": str(bob.user_id)}
    issued = await bob.post(f"/api/mcp/agents/{stage.agent}/tokens", body)
    token = issued.data["token"]
    await managing(stage, bob, as_one=False)
    async with second(MESSAGES) as made:
        await stage.routes_to(made.url)
        assert (await stage.call(MESSAGES)).status == 200
        headers = {"Authorization": f"Bearer {token}"}
        assert (await stage.call(MESSAGES, headers=headers)).status == 200
        of_bob, of_agent = await calls_of(stage, 2)

    assert (of_bob["user_id"], of_agent["user_id"]) == (str(bob.user_id), None)
    assert await listed(bob) == [of_bob]
    assert await one(bob, of_bob) == {**of_bob, "explanation": None}
    assert await one(bob, of_agent) is None
    assert await listed(eve) == []
    assert await listed(stage.ada, user_id=bob.user_id) == [of_bob]


async def two_models(stage: Stage, made: Provider) -> tuple[str, list[str]]:
    """Route two names to two presets; return the connection and the presets."""
    connection = await stage.connection(made.url)
    presets = [
        await new_preset(
            stage.owner, connection, model=f"model-{n}", visibility="public"
        )
        for n in range(2)
    ]
    routes = [to_preset(f"name-{n}", each) for n, each in enumerate(presets)]
    await routed(stage.ada, stage.agent, *routes)
    return connection, presets


async def test_calls_are_found_by_each_of_their_properties(
    stage: Stage, resources: Resources
) -> None:
    async with second(MESSAGES) as made:
        connection, presets = await two_models(stage, made)
        traced = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
        session = {"X-Session-Id": "chat-1"}
        for name, headers in (("name-0", session), ("name-1", traced), ("other", {})):
            await stage.call(MESSAGES, model=name, headers=headers)
            # Their order is that of their recording.
            known = await calls_of(stage, 1 if name == "name-0" else 2)
        refusal, last, first = await calls_of(stage, 3)
    assert known
    both = [last, first]

    for query, found in (
        ({"agent_id": stage.agent}, [refusal, *both]),
        ({"agent_id": NOBODY}, []),
        ({"connection_id": connection}, both),
        ({"connection_id": NOBODY}, []),
        ({"preset_id": presets[0]}, [first]),
        ({"user_id": NOBODY}, []),
        ({"model": "name-0"}, [first]),
        ({"model": "model-1"}, [last]),
        ({"model": "other"}, [refusal]),
        ({"model": "model-"}, []),
        ({"decision": "admitted"}, both),
        ({"decision": "refused"}, [refusal]),
        ({"outcome": "ok"}, both),
        ({"outcome": "cut"}, []),
        ({"session_id": "chat-1"}, [first]),
        ({"trace_id": TRACE}, [last]),
        ({"response_id": "msg_1"}, both),
        ({"response_id": "msg_2"}, []),
        ({"start_time": last["at"]}, [refusal, last]),
        ({"end_time": last["at"]}, [first]),
        ({"start_time": first["at"], "end_time": refusal["at"]}, both),
        ({"model": "name-0", "decision": "refused"}, []),
    ):
        assert await listed(stage.ada, **query) == found, query
    await expect_rebuild_equals_live(resources, "model_calls")


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=101", "after=-1", "after=x", "agent_id=x", "outcome=fine"),
        *("decision=x", "model=", "model=%00", "session_id=%ED%A0%80", "start_time=x"),
        *("end_time=x", "response_id=" + "x" * 257, "unknown=1", "trace_id=%00"),
        *("user_id=1", "after=99999999999999999999", "model=a&model=b"),
    ],
)
async def test_a_query_that_means_nothing_is_refused(stage: Stage, query: str) -> None:
    assert (await stage.ada.get(f"{CALLS}?{query}")).status in (400, 422)


async def test_calls_are_read_page_by_page(stage: Stage) -> None:
    async with second(MESSAGES) as made:
        await two_models(stage, made)
        for number in range(5):
            await stage.call(MESSAGES, model=f"name-{number % 2}")
        calls = await calls_of(stage, 5)

    read: list[Any] = []
    query: dict[str, Any] = {"limit": 2}
    for size in (2, 2, 1):
        page = (await stage.ada.get(f"{CALLS}?{urlencode(query)}")).data
        assert len(page["calls"]) == size
        read += page["calls"]
        query["after"] = page["end_cursor"]
    assert read == calls
    assert query["after"] is None
    positions = [each["position"] for each in calls]
    assert positions == sorted(positions, reverse=True)


async def test_a_call_is_explained_by_what_was_so_then(
    stage: Stage, root: Caller, agent: UUID
) -> None:
    await set_price(root, MODEL, 2, output=10)
    async with second(MESSAGES) as made:
        preset = await stage.routes_to(made.url)
        assert (await stage.call(MESSAGES)).status == 200
        call = await call_of(stage)
        before = await one(stage.ada, call)

        # All of it is changed afterwards, the price for the time of the call, too.
        shown = (await stage.owner.get(f"{PRESETS}/{preset}")).data
        shown_only = {"id", "owner_id", "version", "created_at", "updated_at"}
        shown_only |= {"dialects", "granted_to", "problem"}
        body = {name: each for name, each in shown.items() if name not in shown_only}
        target = {**shown["groups"][0]["targets"][0], "model": "other"}
        kept = ("connection_id", "model", "weight", "context_window")
        body["groups"] = [{"targets": [{name: target[name] for name in kept}]}]
        changed = await stage.owner.put(f"{PRESETS}/{preset}", body)
        assert changed.status == 200, changed.data
        await set_price(root, MODEL, 200, since="2026-01-02T00:00:00Z")
        await put_routing(stage.ada, agent)

        after = await one(stage.ada, call)

    explained = after["explanation"]
    assert after == before
    assert explained["position"] == call["position"] - 1
    assert explained["problem"] is None
    assert [each["decisive"] for each in explained["routes"]] == [True]
    assert call["preset_version"] == explained["leads_to"]["preset"]["version"]
    ((only,),) = (each["targets"] for each in explained["leads_to"]["groups"])
    assert only["model"] == MODEL
    assert only["price"]["input_price_per_1m"] == 2
    assert (after["usage"]["cost"], after["usage"]["price_id"]) == (
        0.000038,
        only["price"]["price_id"],
    )
