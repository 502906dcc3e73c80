"""What reaches an upstream, and what of its answers reaches the agent."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web
from pydantic import SecretStr

from service.errors import NotFoundError
from service.gateway.bounds import DEFAULT_BOUNDS, Bounds
from service.gateway.gate import Outcome
from service.gateway.upstream.errors import (
    ADDRESS_REFUSED,
    ENDED,
    FAILED,
    FORBIDDEN,
    NO_ANSWER,
    NO_RESULT,
    NOT_FOUND,
    NOT_MCP,
    NOT_REACHABLE,
    OTHER_ID,
    REDIRECTED,
    REFUSED,
    TOO_LARGE,
    TOO_MANY,
    UNAUTHORIZED,
    WEB_PAGE,
)
from service.gateway.upstream.received_messages import VALUES_MAX
from service.secrets.sent import Credential
from tests.integration.gateway.fake_gate import TOKEN
from tests.integration.gateway.plain_upstream import (
    PlainUpstream,
    answered,
    drop,
    hello,
    plain_upstream,
    streamed,
)
from tests.integration.gateway.stage import CALL, Stage, forwarding, opened
from tests.support.waiting import until

HIDDEN = "http://internal.example/secret?key=1"
Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


def text(content: str, **more: Any) -> Answer:
    async def answer(_request: web.Request, _body: Any) -> web.StreamResponse:
        return web.Response(text=content, **more)

    return answer


def message(**fields: Any) -> Answer:
    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        return web.json_response({"jsonrpc": "2.0", "id": body["id"], **fields})

    return answer


async def redirect(request: web.Request, _body: Any) -> web.StreamResponse:
    raise web.HTTPTemporaryRedirect(str(request.url.with_path("/other")))


async def other_id(_request: web.Request, body: Any) -> web.StreamResponse:
    return answered({"id": body["id"] + 1}, {"content": []})


async def error_without_id(_request: web.Request, _body: Any) -> web.StreamResponse:
    error = {"code": -32600, "message": HIDDEN}
    return web.json_response({"jsonrpc": "2.0", "id": None, "error": error})


async def forbidden_message(
    _request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    error = {"code": -32000, "message": HIDDEN}
    refusal = {"jsonrpc": "2.0", "id": body["id"], "error": error}
    return web.json_response(refusal, status=403)


async def stream_without_end(request: web.Request, _body: Any) -> web.StreamResponse:
    response = await streamed(request)
    await response.write(b"data: {}\n\n"[:7])
    return response


async def huge_event(request: web.Request, _body: Any) -> web.StreamResponse:
    response = await streamed(request)
    for _ in range(300):
        await response.write(b"data: " + b"x" * 65536)
    return response


CONTENT = [{"type": "text", "text": "x"}]
UNUSABLE: dict[str, tuple[Answer, str]] = {
    "a redirect": (redirect, REDIRECTED),
    "a page": (text(HIDDEN, content_type="text/html"), WEB_PAGE),
    "a text": (text(HIDDEN), NOT_MCP),
    "an error page": (text(HIDDEN, status=500), FAILED),
    "no entry": (text(HIDDEN, status=401), UNAUTHORIZED),
    "no entry, in JSON": (
        text(f'"{HIDDEN}"', status=401, content_type="application/json"),
        UNAUTHORIZED,
    ),
    "forbidden": (text(HIDDEN, status=403), FORBIDDEN),
    "forbidden, in JSON-RPC": (forbidden_message, FORBIDDEN),
    "not there": (text(HIDDEN, status=404), NOT_FOUND),
    "too many requests": (text(HIDDEN, status=429), TOO_MANY),
    "another status": (text(HIDDEN, status=418), REFUSED),
    "not JSON": (text("{", content_type="application/json"), NOT_MCP),
    "no message": (text("[]", content_type="application/json"), NOT_MCP),
    "no outcome": (message(), NO_RESULT),
    "no content": (message(result={}), NO_RESULT),
    "a task": (message(result={"resultType": "task", "taskId": "1"}), NO_RESULT),
    "an error": (
        message(error={"code": -32603, "message": HIDDEN, "data": HIDDEN}),
        REFUSED,
    ),
    "an error without an id": (error_without_id, REFUSED),
    "another id": (other_id, OTHER_ID),
    "a cut stream": (stream_without_end, ENDED),
    "a cut connection": (drop, ENDED),
    "a long text": (
        message(result={"content": CONTENT, "x": "x" * DEFAULT_BOUNDS.answer_bytes}),
        TOO_LARGE,
    ),
    "many values": (
        message(result={"content": [*CONTENT, *[0] * 3 * VALUES_MAX]}),
        TOO_LARGE,
    ),
    "a large event": (huge_event, TOO_LARGE),
}


@pytest.mark.parametrize("name", UNUSABLE)
async def test_answers_that_are_not_usable(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer, told = UNUSABLE[name]
    async with forwarding(answer) as (upstream, stage):
        got = await stage.call("tools_add")

    assert (got.status, got.body["result"]["isError"]) == (200, True)
    assert got.content == told
    assert [each.outcome for each in stage.gate.ended] == [
        Outcome.TOO_LARGE if told == TOO_LARGE else Outcome.UPSTREAM_ERROR
    ]
    # Sent once, whatever came of it.
    assert len(upstream.requests) == 1
    assert HIDDEN not in got.text + caplog.text


async def test_large_answers_are_relayed() -> None:
    large = 'a "text", ' * 300_000
    async with forwarding(
        message(result={"content": [{"type": "text", "text": large}]})
    ) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == large
    assert stage.gate.ended[0].answer_bytes > len(large)


async def test_refused_parameters_are_told_without_the_upstreams_text() -> None:
    error = {"code": -32602, "message": HIDDEN}
    async with forwarding(message(error=error)) as (_, stage):
        got = await stage.call("tools_add")

    assert (got.status, got.code) == (400, -32602)
    assert HIDDEN not in got.text


async def test_what_reaches_the_upstream() -> None:
    async def reveal() -> SecretStr:
        return SecretStr("Bearer of the connector")

    async with plain_upstream() as upstream, opened() as stage:
        connector = stage.gate.connect(upstream.url, "add")
        stage.gate.change(
            connector, credential=Credential(header="Authorization", reveal=reveal)
        )
        traceparent = f"00-{'a' * 32}-{'b' * 16}-01"
        params = {
            "name": "tools_add",
            "arguments": {"b": 1.5, "a": "ö"},
            "_meta": {"traceparent": traceparent, "x.example/y": 1},
        }

        await stage.ask("tools/call", params, Cookie="a=b", X_Agent="c")
        await stage.ask("tools/call", params)

    assert len(upstream.requests) == 2
    for headers, body in upstream.requests:
        assert headers["Authorization"] == "Bearer of the connector"
        assert TOKEN not in str(headers) + str(body)
        assert not {"Cookie", "X-Agent"} & headers.keys()
        assert body["params"]["arguments"] == {"a": "ö", "b": 1.5}
        assert body["params"]["_meta"]["traceparent"] == traceparent
        assert "x.example/y" not in body["params"]["_meta"]
        assert "progressToken" not in body["params"]["_meta"]


async def test_cookies_and_proxies_are_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def bake(_request: web.Request, body: Any) -> web.StreamResponse:
        response = answered(body, {"content": CONTENT})
        response.set_cookie("session", "1")
        return response

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with forwarding(bake) as (upstream, stage):
        await stage.call("tools_add")
        await stage.call("tools_add")

    assert len(upstream.requests) == 2
    assert not any("Cookie" in headers for headers, _ in upstream.requests)


async def test_a_credential_that_cannot_be_revealed() -> None:
    async def reveal() -> SecretStr:
        raise NotFoundError("the credential of the connector is not there any more")

    async with plain_upstream() as upstream, opened() as stage:
        connector = stage.gate.connect(upstream.url, "add")
        stage.gate.change(connector, credential=Credential(header="X", reveal=reveal))

        got = await stage.call("tools_add")

    assert got.body["result"]["isError"]
    assert not upstream.requests
    assert not stage.gate.calls
    assert stage.gate.refusals == ["credential_missing"]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:{port}/mcp", ADDRESS_REFUSED),
        ("http://localhost:{port}/mcp", ADDRESS_REFUSED),
        ("http://2130706433:{port}/mcp", ADDRESS_REFUSED),
        ("http://[::ffff:127.0.0.1]:{port}/mcp", ADDRESS_REFUSED),
        ("http://user:password@127.0.0.1:{port}/mcp", NOT_FOUND),
        ("ftp://127.0.0.1:{port}/mcp", NOT_FOUND),
    ],
)
async def test_addresses_are_refused_as_they_are_used(url: str, told: str) -> None:
    """The upstream is there, and would answer."""
    async with plain_upstream() as upstream, opened(networks=()) as stage:
        port = upstream.url.split(":")[2].split("/")[0]
        stage.gate.connect(url.format(port=port), "add")

        got = await stage.call("tools_add")

    assert got.content == told
    assert not upstream.requests
    assert not stage.gate.calls
    assert stage.gate.refusals == ["not_connected"]


async def test_others_work_while_one_is_down() -> None:
    async with plain_upstream() as upstream, opened() as stage:
        stage.gate.connect("http://127.0.0.1:1/mcp", "add", slug="down")
        stage.gate.connect(upstream.url, "add", slug="up")

        listed = await stage.ask("tools/list")
        down, up = await asyncio.gather(stage.call("down_add"), stage.call("up_add"))

    names = {tool["name"] for tool in listed.body["result"]["tools"]}
    assert names == {"down_add", "up_add"}
    assert (down.content, up.content) == (NOT_REACHABLE, "hello")


async def wait_for_ever(_request: web.Request, _body: Any) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def test_silence_ends_a_call() -> None:
    bounds = Bounds(silence_s=0.1)
    async with forwarding(bounds=bounds) as (upstream, stage):
        # The handshake may take longer than the silence that ends the next call.
        await stage.first_answer("tools_add")
        upstream.answer = wait_for_ever

        got = await stage.call("tools_add")

        await asyncio.wait_for(upstream.left.wait(), 60)
    assert got.content == NO_ANSWER
    assert stage.gate.ended[-1].outcome == Outcome.TIMEOUT


async def test_a_client_who_leaves_cancels_its_call() -> None:
    async with forwarding(wait_for_ever) as (upstream, stage):
        calling = asyncio.create_task(stage.call("tools_add"))
        await upstream.entered.wait()

        calling.cancel()

        await asyncio.wait_for(upstream.left.wait(), 60)
        await asyncio.wait_for(stage.gate.ended_one.wait(), 60)
    assert [each.outcome for each in stage.gate.ended] == [Outcome.CANCELLED]


async def calls_in_flight(
    stage: Stage, upstream: PlainUpstream, number: int
) -> list[Any]:
    calls = [asyncio.create_task(stage.call("tools_add")) for _ in range(number)]
    await until(lambda: len(upstream.requests) >= number)
    return calls


async def test_an_agent_has_so_many_calls_in_flight() -> None:
    async with forwarding(wait_for_ever) as (upstream, stage):
        calls = await calls_in_flight(stage, upstream, 16)

        got = await stage.call("tools_add")

        assert (got.status, got.code, got.headers["Retry-After"]) == (429, 429, "1")
        assert got.body["id"] == 7
        assert stage.gate.refusals == ["too_many_calls"]
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await until(lambda: len(stage.gate.ended) >= 16)
        upstream.answer = hello
        assert (await stage.call("tools_add")).content == "hello"


async def test_connections_are_used_again() -> None:
    ports: set[object] = set()

    async def note(request: web.Request, body: Any) -> web.StreamResponse:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername"))
        return await hello(request, body)

    async with forwarding(note) as (_, stage):
        for _ in range(5):
            await stage.call("tools_add")

    assert len(ports) == 1


async def test_a_session_is_named_by_the_baggage() -> None:
    session = str(uuid4())
    async with forwarding() as (_, stage):
        await stage.ask("tools/call", CALL, baggage=f"a=b, session.id={session};x=y")

    assert stage.gate.calls[0].session_id == session


@pytest.mark.parametrize(
    ("baggage", "session"),
    [
        ("gen_ai.conversation.id=chat", "chat"),
        ("gen_ai.conversation.id=other,session.id=chat", "chat"),
        ("session.id=%00", None),
        ("session.id=" + "x" * 129, None),
        ("session.id=", None),
        ("nonsense", None),
    ],
)
async def test_only_what_can_be_the_id_of_a_session_is_one(
    baggage: str, session: str | None
) -> None:
    async with forwarding() as (_, stage):
        await stage.ask("tools/call", {**CALL, "_meta": {"baggage": baggage}})

    assert stage.gate.calls[0].session_id == session


@pytest.fixture(autouse=True)
def loud(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


async def test_a_connector_that_cannot_be_reached_is_suspended() -> None:
    async with opened() as stage:
        stage.gate.connect("http://127.0.0.1:1/mcp", "add")
        for _ in range(3):
            assert (await stage.call("tools_add")).content == NOT_REACHABLE

        got = await stage.call("tools_add")

    assert got.content == NOT_REACHABLE
    assert len(stage.gate.prepared) == 3
    assert not stage.gate.calls
    assert stage.gate.refusals == [*["not_connected"] * 3, "circuit_open"]
