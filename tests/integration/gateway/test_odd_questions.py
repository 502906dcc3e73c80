"""Questions of upstreams that misbehave, during a call or beside it."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web

from service.gateway.bounds import Bounds
from service.gateway.gate import Outcome
from service.gateway.upstream import standalone_streams
from service.gateway.upstream.errors import ENDED, WANTS_INPUT
from service.http.streaming import Stream as Streaming
from tests.integration.gateway.test_relayed_questions import (
    CANCELLATION,
    QUESTION,
    Stream,
    Upstream,
    ask,
    asking,
)
from tests.integration.gateway.test_standalone_streams import is_listening
from tests.support.waiting import until


@pytest.mark.parametrize("method", [[], {}, 7, None])
async def test_a_method_that_is_no_text_ends_the_call(method: Any) -> None:
    async def ask_oddly(_: Upstream, stream: Stream) -> None:
        await stream.say({**QUESTION, "method": method})
        await asyncio.Event().wait()

    async with (
        asking(ask_oddly) as (_, _, client),
        client.call("tools_add") as stream,
    ):
        assert await stream.text() == WANTS_INPUT


def _without_session(_body: Any) -> web.Response:
    return web.Response(status=404)


def _session_not_found(body: Any) -> web.Response:
    error = {"code": -32600, "message": "Session not found"}
    return web.json_response({"jsonrpc": "2.0", "id": body["id"], "error": error})


@pytest.mark.parametrize("lost", [_without_session, _session_not_found])
async def test_a_call_that_has_asked_is_not_sent_again(
    lost: Callable[[Any], web.Response],
) -> None:
    async with asking(ask) as (upstream, stage, client):
        upstream.begins_late, upstream.late_answer = True, lost
        async with client.call("tools_add") as stream:
            await client.accept(await stream.next(), "Ada")
            assert await stream.text() == ENDED

        upstream.begins_late = False
        upstream.heard.clear()
        async with client.call("tools_add") as stream:
            await client.accept(await stream.next(), "Ada")
            assert await stream.text() == "done"

    assert upstream.calls == len(stage.gate.ended) == 2
    outcomes = [each.outcome for each in stage.gate.ended]
    assert outcomes == [Outcome.UPSTREAM_ERROR, Outcome.OK]


async def test_a_call_that_ends_at_a_question_is_cancelled_at_its_server() -> None:
    async def ask_unknown(upstream: Upstream, stream: Stream) -> None:
        await stream.say({**QUESTION, "method": "x/unknown"})
        await until(lambda: upstream.heard)

    async with (
        asking(ask_unknown) as (upstream, _, client),
        client.call("tools_add") as stream,
    ):
        assert await stream.text() == WANTS_INPUT
        await until(lambda: upstream.heard)

    methods = [each.get("method") for each in upstream.heard]
    assert methods == ["notifications/cancelled"]


async def test_cancelling_nothing_beside_a_call_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(standalone_streams, "PARSED_BYTES_MAX", 1_000)

    async def cancel_on(upstream: Upstream, _: Stream) -> None:
        beside = await upstream.beside()
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        for each in [cancelled] * 100:
            await beside.say(each)
        await until(lambda: not is_listening())

    async with (
        asking(cancel_on) as (_, _, client),
        client.call("tools_add") as stream,
    ):
        assert await stream.text() == "done"


async def test_what_is_asked_beside_a_call_is_so_large_in_all() -> None:
    async def ask_at_length(upstream: Upstream, _: Stream) -> None:
        beside = await upstream.beside()
        params = {"message": "x" * 50_000}
        for number in range(4):
            await beside.say({**QUESTION, "id": number, "params": params})
        await upstream.answer(3)

    async with asking(ask_at_length, bounds=Bounds(answer_bytes=3 * 60_000)) as (
        upstream,
        _,
        client,
    ):
        for _ in range(2):
            upstream.heard.clear()
            async with client.call("tools_add") as stream:
                asked = [await stream.next() for _ in range(3)]
                withdrawn = [await stream.next() for _ in range(3)]
                assert await stream.text() == "done"
            assert [each["error"]["code"] for each in upstream.heard] == [-32601]

    assert {each["method"] for each in asked} == {"elicitation/create"}
    assert {each["method"] for each in withdrawn} == {"notifications/cancelled"}


async def test_beside_a_session_of_several_users_nobody_is_asked() -> None:
    async def ask_beside(upstream: Upstream, _: Stream) -> None:
        await ask(upstream, await upstream.beside())

    async with asking(ask_beside) as (upstream, stage, client):
        upstream.session_id = "of everybody"
        for _ in range(2):
            upstream.heard.clear()
            async with client.call("tools_add") as stream:
                await client.accept(await stream.next(), "Ada")
                assert await stream.text() == "done"
        for user_id in (uuid4(), None):
            # What the other's tool still asks would reach this one.
            stage.gate.user_id = user_id
            upstream.heard.clear()
            async with client.call("tools_add") as stream:
                assert await stream.text() == "done"
            assert [each["error"]["code"] for each in upstream.heard] == [-32601]


async def test_a_question_is_withdrawn_before_its_client_has_read_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written, read, write = asyncio.Event(), asyncio.Event(), Streaming.write

    async def write_slowly(stream: Streaming, data: bytes) -> None:
        await write(stream, data)
        written.set()
        await read.wait()

    monkeypatch.setattr(Streaming, "write", write_slowly)

    async def change_its_mind(_: Upstream, stream: Stream) -> None:
        await stream.say(QUESTION)
        await written.wait()
        await stream.say(CANCELLATION)
        await read.wait()

    async with (
        asking(change_its_mind) as (_, _, client),
        client.call("tools_add") as stream,
    ):
        question, cancelled = await stream.next(), await stream.next()
        read.set()
        assert await stream.text() == "done"

    assert cancelled["params"] == {"requestId": question["id"]}
