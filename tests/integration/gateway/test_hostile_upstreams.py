"""Upstreams that answer what no server should, and agents whose headers are no text."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest
from aiohttp import web

from service.gateway.bounds import Bounds
from service.gateway.endpoint.calls import ASKED_TOO_OFTEN, ROUNDS_MAX
from service.gateway.gate import Outcome
from service.gateway.protocol.revisions import LOG_LEVEL_KEY
from service.gateway.upstream.errors import NO_ANSWER, NOT_MCP, TOO_LARGE, WANTS_INPUT
from tests.integration.gateway.fake_gate import TOKEN
from tests.integration.gateway.plain_upstream import answered, streamed
from tests.integration.gateway.stage import CALL, Posted, Stage, forwarding, opened
from tests.integration.http.raw import all_answered

Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
# A call by a client that began with a handshake.
OF_A_HANDSHAKE = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
RESULT = {"content": [{"type": "text", "text": "hello"}]}


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def deep_json(levels: int) -> bytes:
    return b"[" * levels + b"0" + b"]" * levels


def result(given: dict[str, Any]) -> Answer:
    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        return answered(body, given)

    return answer


def body_of(template: bytes) -> Answer:
    """Answer this JSON, with the request's id."""

    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        return web.Response(
            body=template.replace(b"ID", b"%d" % body["id"]),
            content_type="application/json",
        )

    return answer


def events(*before: bytes) -> Answer:
    """Answer an event stream: these messages, and then the result."""

    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        last = orjson.dumps({"jsonrpc": "2.0", "id": body["id"], "result": RESULT})
        sent = [each.replace(b"ID", b"%d" % body["id"]) for each in (*before, last)]
        return await streamed(request, *sent)

    return answer


def notification(method: str, **params: Any) -> bytes:
    return orjson.dumps(
        {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
    )


def asks(**fields: Any) -> Answer:
    return result({"resultType": "input_required", **fields})


UNUSABLE: dict[str, tuple[Answer, str]] = {
    "a result too deep to be written again": (
        body_of(
            b'{"jsonrpc":"2.0","id":ID,"result":{"content":%b}}' % deep_json(300),
        ),
        NOT_MCP,
    ),
    "JSON too deep to be read": (
        body_of(
            b'{"jsonrpc":"2.0","id":ID,"result":{"content":%b}}' % deep_json(5000),
        ),
        NOT_MCP,
    ),
    "a log message too deep to be written again": (
        events(
            b'{"jsonrpc":"2.0","method":"notifications/message","params":'
            b'{"level":"info","data":%b}}' % deep_json(300)
        ),
        NOT_MCP,
    ),
    "a request whose method is a list": (
        asks(inputRequests={"a": {"method": []}}),
        WANTS_INPUT,
    ),
    "a request whose method is missing": (asks(inputRequests={"a": {}}), WANTS_INPUT),
    "a number that is none": (
        body_of(b'{"jsonrpc":"2.0","id":ID,"result":{"content":[NaN]}}'),
        NOT_MCP,
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
async def test_unusable_answers_are_tool_errors(name: str) -> None:
    answer, told = UNUSABLE[name]
    async with forwarding(answer) as (_, stage):
        got = await stage.call("tools_add")

    assert (got.status, got.content) == (200, told)
    assert [each.outcome for each in stage.gate.ended] == [Outcome.UPSTREAM_ERROR]


async def test_a_stream_of_empty_lines_is_ended() -> None:
    async def answer(request: web.Request, _body: Any) -> web.StreamResponse:
        response = await streamed(request)
        while True:
            await response.write(b"\n" * 65_536)

    async with forwarding(answer) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == TOO_LARGE


NOTIFIED: dict[str, bytes] = {
    "progress that nobody asked for": notification(
        "progress", progressToken="ID", progress=1
    ).replace(b'"ID"', b"ID"),
    "a log that nobody asked for": notification("message", level="error", data="x"),
    "a log of a level that is none": notification("message", level=["x"], data="x"),
    "an unknown notification": notification("unknown", a=1),
    "parameters that are no object": (
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":[1]}'
    ),
}


@pytest.mark.parametrize("name", NOTIFIED)
async def test_unrequested_messages_are_dropped(name: str) -> None:
    async with forwarding(events(NOTIFIED[name])) as (_, stage):
        got = await stage.call("tools_add")

    assert (got.status, got.content) == (200, "hello")
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK]


def levels_of(got: Posted) -> list[str]:
    lines = got.text.splitlines()
    messages = [orjson.loads(line[6:]) for line in lines if line.startswith("data: ")]
    return [
        each["params"]["level"]
        for each in messages
        if each.get("method") == "notifications/message"
    ]


async def test_logs_are_relayed_from_the_level_on_that_is_wanted() -> None:
    logs = [
        notification("message", level=level, data="x")
        for level in ("debug", "info", "notice", "error", "emergency", "loud")
    ]
    async with forwarding(events(*logs)) as (_, stage):
        meta = {"_meta": {LOG_LEVEL_KEY: "error"}}
        stateless = await stage.ask("tools/call", {**CALL, **meta})
        handshake = await stage.post(OF_A_HANDSHAKE)

    assert levels_of(stateless) == ["error", "emergency"]
    assert levels_of(handshake) == ["info", "notice", "error", "emergency"]


async def test_an_upstream_that_asks_without_end_is_left() -> None:
    answer = asks(requestState="later")
    async with forwarding(answer) as (upstream, stage):
        got = await stage.post(OF_A_HANDSHAKE)

    assert got.content == ASKED_TOO_OFTEN
    assert got.body["result"].keys() == {"content", "isError"}
    assert len(upstream.requests) == ROUNDS_MAX + 1


async def test_progress_does_not_extend_the_time_of_a_call() -> None:
    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        response = await streamed(request)
        token = body["params"]["_meta"]["progressToken"]
        for number in range(1_000_000):
            told = notification("progress", progressToken=token, progress=number)
            await response.write(b"data: " + told + b"\n\n")
            await asyncio.sleep(0.01)
        return response

    bounds = Bounds(call_s=0.5)
    async with forwarding(bounds=bounds) as (upstream, stage):
        await stage.first_answer("tools_add")
        upstream.answer = answer
        meta = {"_meta": {"progressToken": "mine"}}
        got = await stage.ask("tools/call", {**CALL, **meta})

        await asyncio.wait_for(upstream.left.wait(), 60)
    assert NO_ANSWER in got.text
    assert stage.gate.ended[-1].outcome == Outcome.TIMEOUT


@pytest.mark.parametrize("header", ["baggage", "tracestate"])
async def test_a_trace_context_that_is_no_text_is_left_out(header: str) -> None:
    async with forwarding() as (_, stage):
        status, _ = await raw_call(
            stage,
            f"traceparent: 00-{'a' * 32}-{'b' * 16}-01\r\n".encode()
            + header.encode()
            + b": session.id=\xff\r\n",
        )

    assert status == 200
    assert stage.gate.calls[0].session_id is None


async def test_a_revision_that_is_no_text_is_unsupported() -> None:
    async with opened() as stage:
        stage.gate.connect("http://127.0.0.1:9/mcp", "add")

        status, body = await raw_call(stage, b"MCP-Protocol-Version: \xff\r\n")

    assert status == 400
    assert body["error"]["code"] == -32022


async def test_accepted_types_may_be_in_several_headers() -> None:
    async with forwarding() as (_, stage):
        status, _ = await raw_call(
            stage, b"Accept: application/json\r\nAccept: Text/Event-Stream\r\n"
        )

    assert status == 200


async def raw_call(stage: Stage, headers: bytes) -> tuple[int, Any]:
    """Call a tool with headers that no client library would send."""
    body = orjson.dumps(OF_A_HANDSHAKE)
    request = (
        b"POST %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Authorization: Bearer %b\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n%b\r\n%b"
        % (stage.path().encode(), TOKEN.encode(), len(body), headers, body)
    )
    received = await all_answered(stage.http.port, request)
    head, _, answer = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), orjson.loads(answer)
