"""Spans of tool calls, as an OTLP receiver gets them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from mcp import types
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from service.gateway.gate import RefusalReason, Refused
from service.tracing.export import exporting_spans
from service.tracing.tracing import Tracing
from tests.integration.gateway.plain_upstream import (
    Answer,
    PlainUpstream,
    answered,
    hello,
    plain_upstream,
)
from tests.integration.gateway.stage import Stage, forwarding, opened
from tests.support.otlp_receiver import Receiver, attributes, receiver

TRACE, PARENT, OTHER = "a" * 32, "b" * 16, "c" * 16
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
# In the arguments, the result, and an upstream's texts.
CANARY = "8d1f7c2e-canary"


def by_kind(received: Receiver) -> dict[str, Span]:
    kinds = {Span.SPAN_KIND_SERVER: "server", Span.SPAN_KIND_CLIENT: "client"}
    spans = {kinds[span.kind]: span for span in received.spans}
    assert len(spans) == len(received.spans)
    return spans


@asynccontextmanager
async def traced(
    answer: Answer = hello,
) -> AsyncIterator[tuple[Receiver, PlainUpstream, Stage]]:
    async with (
        receiver() as received,
        plain_upstream(answer) as upstream,
        exporting_spans(received.url) as provider,
        opened(traces=Tracing(provider)) as stage,
    ):
        stage.gate.connect(f"{upstream.url}?key={CANARY}", "add")
        yield received, upstream, stage


def call(**meta: str) -> Mapping[str, Any]:
    return {"name": "tools_add", "arguments": {"q": CANARY}, "_meta": meta}


async def test_a_call_is_a_server_span_and_a_client_span() -> None:
    async with traced() as (received, upstream, stage):
        await stage.ask(
            "tools/call",
            call(traceparent=TRACEPARENT, baggage="session.id=chat%201"),
            traceparent=f"00-{TRACE}-{OTHER}-01",
        )
        ((_, body),) = upstream.requests
        (ended,) = stage.gate.ended
        agent = str(stage.gate.agent_id)
        (connector,) = map(str, stage.gate.upstreams)
        port = int(upstream.url.split(":")[2].split("/")[0])

    spans = by_kind(received)
    server, client = spans["server"], spans["client"]
    common = {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "network.transport": "tcp",
        "network.protocol.name": "http",
        "mcp.protocol.version": "2026-07-28",
        "agent_runtime.call.id": str(ended.call_id),
        "agent_runtime.connector.id": connector,
    }
    assert (server.name, client.name) == ("tools/call tools_add", "tools/call add")
    assert attributes(server) == {
        **common,
        "gen_ai.tool.name": "tools_add",
        "gen_ai.agent.id": agent,
        "jsonrpc.request.id": "7",
        "session.id": "chat 1",
    }
    assert attributes(client) == {
        **common,
        "gen_ai.tool.name": "add",
        "jsonrpc.request.id": str(body["id"]),
        "server.address": "127.0.0.1",
        "server.port": port,
    }
    assert (server.trace_id.hex(), server.parent_span_id.hex()) == (TRACE, PARENT)
    assert [link.span_id.hex() for link in server.links] == [OTHER]
    assert (client.trace_id, client.parent_span_id) == (server.trace_id, server.span_id)
    meta = body["params"]["_meta"]
    assert meta["traceparent"] == f"00-{TRACE}-{client.span_id.hex()}-01"
    assert meta["baggage"] == "session.id=chat%201"
    assert Status.STATUS_CODE_ERROR not in (server.status.code, client.status.code)
    assert not any(CANARY.encode() in each for each in received.bodies)


async def fail(_request: web.Request, body: Any) -> web.StreamResponse:
    content = [{"type": "text", "text": CANARY}]
    return answered(body, {"content": content, "isError": True})


async def refuse(_request: web.Request, body: Any) -> web.StreamResponse:
    error = {"code": -32602, "message": CANARY}
    return web.json_response({"jsonrpc": "2.0", "id": body["id"], "error": error})


async def babble(_request: web.Request, _body: Any) -> web.StreamResponse:
    return web.Response(text=CANARY)


@pytest.mark.parametrize(
    ("answer", "of_server", "of_client"),
    [
        (fail, "tool_error", "tool_error"),
        (refuse, "-32602", "-32602"),
        (babble, "tool_error", "upstream_error"),
    ],
)
async def test_errors_have_a_type_and_no_text(
    answer: Any, of_server: str, of_client: str
) -> None:
    async with traced(answer) as (received, _, stage):
        await stage.ask("tools/call", call())

    spans = by_kind(received)
    expected = {"server": of_server, "client": of_client}
    assert {
        kind: attributes(span)["error.type"] for kind, span in spans.items()
    } == expected
    for kind, span in spans.items():
        code = attributes(span).get("rpc.response.status_code")
        assert code == (expected[kind] if expected[kind].startswith("-") else None)
        assert span.status.code == Status.STATUS_CODE_ERROR
    assert not any(CANARY.encode() in each for each in received.bodies)


async def test_only_a_forwarded_call_has_a_client_span() -> None:
    async with traced() as (received, _, stage):
        stage.gate.denied["add"] = Refused(
            reason=RefusalReason.DENIED, message="unknown tool"
        )
        params = {"name": CANARY, "arguments": {}}
        await stage.ask("tools/call", params)

    (span,) = received.spans
    assert span.name == "tools/call"
    assert attributes(span)["error.type"] == "-32602"
    assert not any(CANARY.encode() in each for each in received.bodies)


async def test_an_agent_decides_whether_its_trace_is_sampled() -> None:
    async with traced() as (received, upstream, stage):
        await stage.ask("tools/call", call(traceparent=f"00-{TRACE}-{PARENT}-00"))
        ((_, body),) = upstream.requests

    assert not received.bodies
    assert body["params"]["_meta"]["traceparent"].startswith(f"00-{TRACE}-")
    assert body["params"]["_meta"]["traceparent"].endswith("-00")


async def test_calls_are_answered_while_the_receiver_is_down() -> None:
    async with receiver() as received:
        pass
    async with (
        exporting_spans(received.url) as provider,
        forwarding(traces=Tracing(provider)) as (_, stage),
    ):
        got = await stage.ask("tools/call", call())

    assert got.content == "hello"


@pytest.mark.parametrize(
    ("meta", "headers", "passed_on"),
    [
        ({"traceparent": TRACEPARENT}, {}, {"traceparent": TRACEPARENT}),
        ({}, {"traceparent": TRACEPARENT}, {"traceparent": TRACEPARENT}),
        (
            {"traceparent": TRACEPARENT},
            {"traceparent": f"00-{TRACE}-{OTHER}-01", "tracestate": "a=b"},
            {"traceparent": TRACEPARENT},
        ),
        ({"traceparent": "nonsense", "tracestate": "a=b"}, {}, {}),
        ({"baggage": "a=b"}, {}, {"baggage": "a=b"}),
    ],
)
async def test_without_an_endpoint_the_agents_context_is_passed_on(
    meta: Mapping[str, str], headers: Mapping[str, str], passed_on: Mapping[str, str]
) -> None:
    async with forwarding() as (upstream, stage):
        await stage.ask("tools/call", call(**meta), **headers)

    ((_, body),) = upstream.requests
    sent = body["params"]["_meta"]
    keys = ("traceparent", "tracestate", "baggage")
    assert {key: sent[key] for key in keys if key in sent} == passed_on


async def test_the_official_client_is_in_its_own_trace() -> None:
    """It sends the trace context in ``_meta`` by itself."""
    async with (
        traced() as (received, _, stage),
        stage.client("2026-07-28") as client,
    ):
        await client.list_tools()
        meta: Any = {"traceparent": TRACEPARENT}
        result = await client.call_tool("tools_add", {"q": CANARY}, meta=meta)

    assert isinstance(result.content[0], types.TextContent)
    assert by_kind(received)["server"].trace_id.hex() == TRACE
