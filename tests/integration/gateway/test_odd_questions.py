"""Questions of upstreams that misbehave, during a call or beside it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from service.gateway.gate import Outcome
from service.gateway.upstream.errors import ENDED, WANTS_INPUT
from tests.integration.gateway.test_relayed_questions import (
    QUESTION,
    Stream,
    Upstream,
    ask,
    asking,
)


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
