"""'ask' as an agent's client sees it: held, linked to, or pending."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from aiohttp import web
from mcp import types

from service.connection_pool import PoolBusyError
from service.gateway.endpoint import calls
from service.gateway.endpoint.request_state import INNER_BYTES_MAX
from service.gateway.gate import Outcome, Pending, RefusalReason, Refused
from service.gateway.protocol.revisions import CAPABILITIES_KEY
from service.gateway.upstream.errors import TOO_LARGE
from tests.integration.gateway.fake_gate import PENDING
from tests.integration.gateway.plain_upstream import (
    PlainUpstream,
    answered,
    plain_upstream,
)
from tests.integration.gateway.stage import CALL, Stage, forwarding, opened
from tests.support.waiting import until

Answer = Callable[[web.Request, Any], Awaitable[web.StreamResponse]]
URL = "https://console.example/approvals/{approval_id}"
LINKS: Mapping[str, Any] = {"_meta": {CAPABILITIES_KEY: {"elicitation": {"url": {}}}}}


def asking(stage: Stage, upstream: PlainUpstream) -> Stage:
    stage.gate.connect(upstream.url, "add")
    stage.gate.asked.add("add")
    return stage


async def test_pending_is_a_tool_error_that_says_so(upstream: PlainUpstream) -> None:
    async with opened() as stage:
        asking(stage, upstream)

        pending = await stage.call("tools_add", a=1)
        stage.gate.approved.set()
        again = await stage.call("tools_add", a=1)

    assert (pending.content, pending.body["result"]["isError"]) == (PENDING, True)
    assert again.content == "hello"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_call_is_held_until_somebody_answers(
    upstream: PlainUpstream, mode: str
) -> None:
    async with opened(hold_s=60) as stage:
        asking(stage, upstream)
        async with stage.client(mode) as client:
            await client.list_tools()
            call = asyncio.create_task(client.call_tool("tools_add", {"a": 1}))
            await until(lambda: stage.gate.prepared)
            assert not call.done()

            stage.gate.approved.set()

            result = await call
    assert result.content[0].text == "hello"  # type: ignore[union-attr]


async def test_a_held_client_who_leaves_is_not_forwarded(
    upstream: PlainUpstream,
) -> None:
    async with opened(hold_s=60) as stage:
        asking(stage, upstream)
        call = asyncio.create_task(stage.call("tools_add"))
        await until(lambda: stage.gate.prepared)

        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        stage.gate.approved.set()
        await stage.ask("tools/list")

    assert not upstream.requests
    assert not stage.gate.calls


async def test_a_stream_of_a_held_call_says_that_the_database_is_busy(
    upstream: PlainUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "KEEPALIVE_S", 0.01)
    async with opened(hold_s=60) as stage:
        asking(stage, upstream)
        wait, waits = stage.gate.wait_for_decision, 0

        async def wait_for_decision(pending: Pending, timeout_s: float) -> bool:
            nonlocal waits
            waits += 1
            # The first time, the stream begins.
            if waits > 1:
                raise PoolBusyError
            return await wait(pending, timeout_s)

        monkeypatch.setattr(stage.gate, "wait_for_decision", wait_for_decision)
        ended = await stage.call("tools_add", a=1)

    assert "all connections to the database are in use" in ended.text


@pytest.mark.parametrize(
    "reason", [RefusalReason.APPROVAL_REFUSED, RefusalReason.APPROVAL_EXPIRED]
)
async def test_a_refusal_says_what_happened(
    upstream: PlainUpstream, reason: RefusalReason
) -> None:
    async with opened() as stage:
        asking(stage, upstream)
        stage.gate.denied["add"] = Refused(reason=reason, message=f"because {reason}")

        got = await stage.call("tools_add")

    assert (got.content, got.body["result"]["isError"]) == (f"because {reason}", True)


async def test_a_client_that_can_gets_a_link(upstream: PlainUpstream) -> None:
    async with opened(approval_url=URL) as stage:
        asking(stage, upstream)
        params = {"name": "tools_add", "arguments": {"a": 1}, **LINKS}

        asked = await stage.ask("tools/call", params)
        result = asked.body["result"]
        state = {"requestState": result["requestState"]}
        pending = await stage.ask("tools/call", {**params, **state})
        stage.gate.approved.set()
        answer = {"inputResponses": {"approval": {"action": "accept"}}}
        again = await stage.ask("tools/call", {**params, **state, **answer})

    ((_, forwarded),) = upstream.requests
    assert "inputResponses" not in forwarded["params"]
    (request,) = result["inputRequests"].values()
    assert result["resultType"] == "input_required"
    assert request["params"]["mode"] == "url"
    assert request["params"]["url"] == URL.format(approval_id=stage.gate.agent_id)
    assert pending.content == PENDING
    assert again.content == "hello"


async def test_the_official_client_opens_the_link(upstream: PlainUpstream) -> None:
    opened_urls: list[str] = []

    async with opened(approval_url=URL, hold_s=60) as stage:
        asking(stage, upstream)

        async def approve(_context: Any, params: Any) -> types.ElicitResult:
            opened_urls.append(params.url)
            stage.gate.approved.set()
            return types.ElicitResult(action="accept")

        async with stage.client("2026-07-28", elicitation_callback=approve) as client:
            await client.list_tools()
            result = await client.call_tool("tools_add", {"a": 1})

    assert result.content[0].text == "hello"  # type: ignore[union-attr]
    assert opened_urls == [URL.format(approval_id=stage.gate.agent_id)]


async def ask_for_name(_request: web.Request, body: Any) -> web.StreamResponse:
    params = body["params"]
    if params.get("requestState") == "upstream's own" and params["inputResponses"]:
        name = params["inputResponses"]["who"]["content"]["name"]
        return answered(body, {"content": [{"type": "text", "text": f"hello {name}"}]})
    form = {"mode": "form", "message": "who?", "requestedSchema": {"type": "object"}}
    requests = {"who": {"method": "elicitation/create", "params": form}}
    return answered(
        body,
        {
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": "upstream's own",
        },
    )


FORMS: Mapping[str, Any] = {"_meta": {CAPABILITIES_KEY: {"elicitation": {"form": {}}}}}
INPUT = {"inputResponses": {"who": {"action": "accept", "content": {"name": "Ada"}}}}


async def test_rounds_of_an_upstream() -> None:
    async with plain_upstream(ask_for_name) as upstream, opened() as stage:
        stage.gate.connect(upstream.url, "add", "sub")
        params = {**CALL, **FORMS}

        first = (await stage.ask("tools/call", params)).body["result"]
        state = {"requestState": first["requestState"]}
        second = await stage.ask("tools/call", {**params, **INPUT, **state})
        refused = [
            await stage.ask("tools/call", {**params, **INPUT, **changed})
            for changed in (
                {"requestState": "upstream's own"},
                {"requestState": first["requestState"][:-4] + "AAA="},
                {"requestState": 1},
                {**state, "arguments": {"a": 1}},
                {**state, "name": "tools_sub"},
            )
        ]

    assert first["requestState"] != "upstream's own"
    assert second.content == "hello Ada"
    assert [(each.status, each.code) for each in refused] == [(400, -32602)] * 5
    assert len(upstream.requests) == 2


async def test_only_input_that_the_client_supports_is_asked_for() -> None:
    async with forwarding(ask_for_name) as (_, stage):
        got = await stage.call("tools_add")

    assert got.body["result"]["isError"]
    assert "inputRequests" not in got.text


def keeping(state: str) -> Answer:
    """Ask for another round with this state, and say then whether it came back."""

    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        kept = body["params"].get("requestState")
        if kept is None:
            return answered(
                body, {"resultType": "input_required", "requestState": state}
            )
        return answered(
            body, {"content": [{"type": "text", "text": str(kept == state)}]}
        )

    return answer


@pytest.mark.parametrize(
    "state",
    ["x" * (INNER_BYTES_MAX - 2), '"' * (INNER_BYTES_MAX // 2 - 1)],
    ids=["letters", "quotes"],
)
async def test_the_largest_state_of_an_upstream_is_accepted_again(state: str) -> None:
    async with forwarding(keeping(state)) as (_, stage):
        first = (await stage.ask("tools/call", CALL)).body["result"]
        kept = {"requestState": first["requestState"]}
        second = await stage.ask("tools/call", {**CALL, **kept})

    assert second.content == "True"


@pytest.mark.parametrize(
    "state",
    ["x" * (INNER_BYTES_MAX - 1), '"' * (INNER_BYTES_MAX // 2), "x" * 500_000],
    ids=["letters", "quotes", "many"],
)
async def test_a_state_that_would_not_be_accepted_again_is_too_large(
    state: str,
) -> None:
    async with forwarding(keeping(state)) as (_, stage):
        got = await stage.ask("tools/call", CALL)

    assert got.content == TOO_LARGE
    assert [each.outcome for each in stage.gate.ended] == [Outcome.TOO_LARGE]
