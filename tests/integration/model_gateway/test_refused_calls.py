"""Calls that are refused for what they are: bodies, sizes, paths, numbers."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientResponse

from service.model_gateway.endpoint import limits, server
from tests.integration.model_gateway.dialects import CHAT, MESSAGES, RESPONSES, Spoken
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.stage import Stage
from tests.support.waiting import until

SPOKEN = pytest.mark.parametrize(
    "spoken", [CHAT, RESPONSES, MESSAGES], ids=lambda each: each.dialect.value
)
APIS = pytest.mark.parametrize("api", ["openai", "anthropic"])
SECRET = "xyzzy"


async def error(reply: ClientResponse, *, is_openai: bool) -> dict[str, Any]:
    """Return the error of a refusal that has the shape of its API, not retried."""
    document = await reply.json()
    assert reply.headers["x-should-retry"] == "false"
    assert SECRET not in await reply.text()
    found: dict[str, Any] = document.pop("error")
    if is_openai:
        assert found.keys() == {"message", "type", "param", "code"}
        assert document == {}
    else:
        assert found.keys() == {"type", "message"}
        request_id = reply.headers["X-Request-Id"]
        assert document == {"type": "error", "request_id": request_id}
    return found


@SPOKEN
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"xyzzy",
        b'["xyzzy"]',
        b'{"xyzzy":1}',
        b'{"model":1,"xyzzy":1}',
        b'{"model":"xyzzy"',
        b'{"model":"xyzzy"} x',
        b'{"model":"xyzzy","model":"fast"}',
        b'{"model":"xyzzy","Model":"fast"}',
        b'{"model":"xyzzy\xff"}',
        b'{"model":"xyzzy","a":NaN}',
        b'{"model":"xyzzy","a":' + b"[" * 40_000,
        b'{"model":"xyzzy","a":"' + b"x" * 100_000,
    ],
    ids=range(13),
)
async def test_a_body_that_is_no_call_is_refused(
    stage: Stage, spoken: Spoken, body: bytes
) -> None:
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, body)

        assert reply.status == 400
        found = await error(reply, is_openai=spoken is not MESSAGES)
        assert found["type"] == "invalid_request_error"
        if found.get("param"):
            assert found["param"] == "model"
        # It can call on.
        assert (await stage.call(spoken)).status == 200
    assert len(made.received) == 1


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 100):
        yield content[start : start + 100]


@SPOKEN
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_body_may_not_be_too_large(
    stage: Stage, spoken: Spoken, monkeypatch: pytest.MonkeyPatch, *, is_chunked: bool
) -> None:
    largest = spoken.request(padding="x" * 1000)
    larger = spoken.request(padding="x" * 1001)
    monkeypatch.setattr(server, "BODY_BYTES_MAX", len(largest))
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        async def called(content: bytes) -> ClientResponse:
            return await stage.client.post(
                stage.path(spoken.path),
                data=pieces(content) if is_chunked else content,
                headers={"Authorization": f"Bearer {stage.token}"},
            )

        assert (await called(largest)).status == 200
        reply = await called(larger)

        assert reply.status == 413
        found = await error(reply, is_openai=spoken is not MESSAGES)
        if spoken is MESSAGES:
            assert found["type"] == "request_too_large"
        else:
            assert found["code"] == "too_large"
    assert len(made.received) == 1


@SPOKEN
@pytest.mark.parametrize("coding", ["gzip", "br", "identity, gzip"])
async def test_a_body_may_not_be_compressed(
    stage: Stage, spoken: Spoken, coding: str
) -> None:
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, b"xyzzy", {"Content-Encoding": coding})

        assert reply.status == 415
        found = await error(reply, is_openai=spoken is not MESSAGES)
        assert found["type"] == "invalid_request_error"
        assert "must not be compressed" in found["message"]
    assert made.received == []


UNKNOWN = [
    "/v1/completions",
    "/v1/images/generations",
    "/v1/responses/resp_1",
    "/v1/responses/resp_1/cancel",
    "/v1/messages/batches",
    "/v1/files",
    "/v1/chat",
    "/v1/chat/completions/",
    "/v1/v1/models",
    "/v2/chat/completions",
    "/chat/completions",
    "/a:b",
    "/xyzzy",
    "/a/b/c/d",
]


@APIS
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
async def test_an_unknown_path_is_refused_in_the_shape_of_its_api(
    stage: Stage, api: str, method: str
) -> None:
    async with provider(answer({})) as made:
        await stage.routes_to(made.url)

        asked = [(path, stage.token, 404) for path in UNKNOWN]
        for path, token, status in [*asked, ("/xyzzy", "agt_wrong", 401)]:
            reply = await stage.client.request(
                method,
                stage.path(f"/{api}{path}"),
                headers={"Authorization": f"Bearer {token}"},
                json={} if method == "POST" else None,
            )

            assert reply.status == status, path
            if method == "HEAD":
                assert await reply.read() == b""
                assert reply.headers["x-should-retry"] == "false"
            else:
                await error(reply, is_openai=api == "openai")
    assert made.received == []


@APIS
@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_base_url_answers_without_a_token(
    stage: Stage, api: str, path: str, method: str
) -> None:
    reply = await stage.client.request(method, stage.path(f"/{api}{path}"))

    assert reply.status == 200
    assert bool(await reply.read()) is (method == "GET")


@APIS
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
async def test_no_other_method_is_forwarded(
    stage: Stage, api: str, method: str
) -> None:
    headers = {"Authorization": f"Bearer {stage.token}"}

    reply = await stage.client.request(
        method, stage.path(f"/{api}/v1/responses/resp_1"), headers=headers
    )

    assert reply.status == 405
    assert reply.headers["Allow"] == "GET,HEAD,POST"


class Waiting:
    """Answers when it is let go."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.is_let_go = asyncio.Event()

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        await self.is_let_go.wait()
        writer.write(self._content)


@SPOKEN
@pytest.mark.parametrize(
    ("limit", "status"), [("CALLS_OF_AGENT_MAX", 429), ("CALLS_MAX", 503)]
)
async def test_calls_in_flight_are_limited(
    stage: Stage,
    spoken: Spoken,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    status: int,
) -> None:
    monkeypatch.setattr(limits, limit, 2)
    waiting = Waiting(answer(spoken.whole))
    async with provider(waiting) as made:
        await stage.routes_to(made.url)
        begun = [asyncio.create_task(stage.call(spoken)) for _ in range(2)]
        await until(lambda: len(made.received) == 2)

        refused = await stage.call(spoken)

        document = await refused.json()
        assert refused.status == status
        assert refused.headers["Retry-After"] == "1"
        assert "x-should-retry" not in refused.headers
        assert "in flight" in document["error"]["message"]
        if spoken is MESSAGES:
            kinds = {429: "rate_limit_error", 503: "overloaded_error"}
            assert document["error"]["type"] == kinds[status]
        else:
            assert document["error"]["code"] == "too_many_calls"
        waiting.is_let_go.set()
        assert [(await each).status for each in begun] == [200, 200]
        assert (await stage.call(spoken)).status == 200
    assert len(made.received) == 3


async def test_a_call_that_is_refused_is_not_in_flight(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CALLS_OF_AGENT_MAX", 1)
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)

        statuses = [
            (await stage.call(CHAT, body)).status
            for body in (b"x", CHAT.request(), b"{}", b'{"model":1}', CHAT.request())
        ]

    assert statuses == [400, 200, 400, 400, 200]


async def test_bodies_in_flight_are_limited_together(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = CHAT.request(padding="x" * 1000)
    monkeypatch.setattr(limits, "BODIES_BYTES_MAX", 2 * len(body))
    waiting = Waiting(answer(CHAT.whole))
    async with provider(waiting) as made:
        await stage.routes_to(made.url)
        begun = [asyncio.create_task(stage.call(CHAT, body)) for _ in range(2)]
        await until(lambda: len(made.received) == 2)

        refused = await stage.call(CHAT)

        assert refused.status == 503
        assert (await refused.json())["error"]["code"] == "too_many_bytes"
        assert refused.headers["Retry-After"] == "1"
        waiting.is_let_go.set()
        assert [(await each).status for each in begun] == [200, 200]
        assert (await stage.call(CHAT, body)).status == 200
