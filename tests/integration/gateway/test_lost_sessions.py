"""Sessions that an upstream has lost, and the ways in which servers say so."""

from typing import Any

import pytest
from aiohttp import web

from service.gateway.gate import Outcome
from service.gateway.upstream.errors import REFUSED
from tests.integration.gateway.restarted_server import (
    Refusal,
    error,
    plain,
    restarted,
)
from tests.support.waiting import until


async def empty(_request: web.Request, _body: Any) -> web.StreamResponse:
    return web.json_response({}, status=404)


LOST: dict[str, Refusal] = {
    "404": plain(404),
    "410": plain(410),
    "404, JSON": error(-32001, "Session not found", status=404),
    "404, about parameters": error(-32602, "Session not found", status=404),
    "404, of no id": error(-32600, "?", status=404, of="server-error"),
    "404, no words": error(-32000, "?", status=404),
    "404, no MCP": empty,
    "400, JSON": error(-32000, "Bad Request: No valid session ID provided", status=400),
    "400, of no id": error(
        -32600, "Bad Request: Missing session ID", status=400, of="server-error"
    ),
    "400, text": plain(400, "Invalid or missing session ID"),
    "terminated": error(-32600, "Session terminated"),
    "terminated, SSE": error(-32600, "Session terminated", sse=True),
    "terminated, of no id": error(-32600, "Session has been terminated", of=None),
    "not found": error(-32001, "Session not found"),
    "not found, SSE": error(-32001, "Session not found", sse=True),
    "invalid": error(-32000, "Invalid session"),
    "not initialized": error(-32002, "server not initialized"),
    "internal": error(-32603, "Unknown MCP session-id"),
    "about parameters": error(-32602, "Invalid session ID"),
    "500": error(-32603, "session expired", status=500),
}


@pytest.mark.parametrize("name", LOST)
async def test_a_call_in_a_session_that_was_lost_is_made_again(name: str) -> None:
    """Nobody notices, and the tool runs once."""
    async with restarted(LOST[name]) as (served, stage):
        await stage.call("tools_add")
        served.restart()

        again = await stage.call("tools_add")

    assert again.content == "session-2"
    assert served.ran == ["session-1", "session-2"]
    assert [each.outcome for each in stage.gate.ended] == [
        Outcome.OK,
        Outcome.UPSTREAM_ERROR,
        Outcome.OK,
    ]


UNCLEAR: dict[str, Refusal] = {
    "no words": error(-32603, "Internal error"),
    "a code of its own": error(0, "'abc123'"),
    "another language": error(-32000, "Sitzung unbekannt"),
    "401": plain(401),
    "500": plain(500),
    "200 without an error": plain(200, "gone"),
}


@pytest.mark.parametrize("name", UNCLEAR)
async def test_the_call_after_an_unclear_refusal_begins_a_session(name: str) -> None:
    """Whether the server did something isn't known: the first isn't made again."""
    async with restarted(UNCLEAR[name]) as (served, stage):
        await stage.call("tools_add")
        served.restart()

        first = await stage.call("tools_add")

        async def recovers() -> bool:
            return (await stage.call("tools_add")).content == "session-2"

        await until(recovers)

    assert first.body["result"]["isError"] is True


TOOLS_OWN: dict[str, Refusal] = {
    "of a session of its own": error(-32001, "Session not found"),
    "of its failure": error(-32603, "the session of the database has expired"),
    "of a parameter": error(-32602, "unknown session"),
    "of an invalid request": error(-32000, "chat session terminated", sse=True),
}


@pytest.mark.parametrize("name", TOOLS_OWN)
async def test_an_error_of_the_tool_is_not_repeated(name: str) -> None:
    async with restarted(plain(404), tool=TOOLS_OWN[name]) as (served, stage):
        for _ in range(2):
            got = await stage.call("tools_add")
            assert "error" in got.body or got.content == REFUSED

    assert len(served.ran) == 2


async def test_what_was_at_work_is_not_made_again() -> None:
    """The server reported on the call, and lost the session then."""
    progress = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
    ended = error(-32600, "Session terminated", sse=True, before=progress)
    async with restarted(ended) as (served, stage):
        await stage.call("tools_add")
        served.restart()

        got = await stage.call("tools_add")
        again = await stage.call("tools_add")

    assert got.content == REFUSED
    assert again.content == "session-2"
    assert served.count("tools/call") == 3


async def test_a_tool_s_errors_keep_its_session() -> None:
    """State of the session isn't lost with each call that fails."""
    failing = error(-32603, "no such file")
    async with restarted(plain(404), tool=failing) as (served, stage):
        for _ in range(3):
            await stage.call("tools_add")
            await until(lambda: served.count("ping") == len(served.ran))

    assert served.ran == ["session-1"] * 3


async def test_a_server_that_answers_any_ping_is_believed_that_it_lost_a_session() -> (
    None
):
    lost = error(-32001, "Session not found")
    async with restarted(lost, answers_any_ping=True) as (served, stage):
        await stage.call("tools_add")
        served.restart()

        first = await stage.call("tools_add")
        second = await stage.call("tools_add")

    assert first.content == REFUSED
    assert second.content == "session-2"


WITHOUT_SESSIONS: dict[str, Refusal] = {
    "400": error(-32000, "Bad Request: Server not initialized", status=400),
    "200": error(-32002, "Server not initialized"),
    "invalid request": error(-32600, "Server not initialized", sse=True),
}


@pytest.mark.parametrize("name", WITHOUT_SESSIONS)
async def test_a_server_without_sessions_that_restarted_is_initialized_again(
    name: str,
) -> None:
    refuse = WITHOUT_SESSIONS[name]
    async with restarted(refuse, has_sessions=False) as (served, stage):
        await stage.call("tools_add")
        served.restart()

        again = await stage.call("tools_add")

    assert again.content == "None"
    assert len(served.ran) == 2


WANTS_HANDSHAKE: dict[str, Refusal] = {
    "400": error(-32000, "Bad Request: No valid session ID provided", status=400),
    "200": error(-32600, "Missing session ID"),
    "SSE": error(-32002, "Server not initialized", sse=True),
}


@pytest.mark.parametrize("name", WANTS_HANDSHAKE)
async def test_a_stateless_server_that_wants_a_handshake_now_gets_one(
    name: str,
) -> None:
    async with restarted(WANTS_HANDSHAKE[name], is_stateless=True) as (served, stage):
        await stage.call("tools_add")
        served.restart()

        again = await stage.call("tools_add")

    assert again.content == "session-1"
    assert served.ran == [None, "session-1"]


async def test_a_server_that_is_stateless_now_is_asked_again() -> None:
    """It says that it doesn't speak the revision, whatever the status."""
    refuse = error(-32022, "Unsupported protocol version")
    async with restarted(refuse) as (served, stage):
        await stage.call("tools_add")
        served.restart(stateless=True)

        async def recovers() -> bool:
            return (await stage.call("tools_add")).content == "None"

        await until(recovers)

    assert served.ran == ["session-1", None]


@pytest.mark.parametrize("name", LOST)
async def test_the_observer_begins_a_session_of_its_own_again(name: str) -> None:
    async with restarted(LOST[name]) as (served, stage):
        (connector_id,) = stage.gate.upstreams
        await stage.observer.observe_now(connector_id, 60)
        served.restart()

        await stage.observer.observe_now(connector_id, 60)

    assert [names for _, names in stage.gate.observations] == [["add"]] * 2


@pytest.mark.parametrize("name", UNCLEAR)
async def test_the_observer_never_stays_in_a_session_that_fails(name: str) -> None:
    async with restarted(UNCLEAR[name]) as (served, stage):
        (connector_id,) = stage.gate.upstreams
        await stage.observer.observe_now(connector_id, 60)
        served.restart()

        for _ in range(2):
            await stage.observer.observe_now(connector_id, 60)

    assert [names for _, names in stage.gate.observations] == [["add"]] * 2


async def not_there(_request: web.Request, body: Any) -> web.StreamResponse:
    content = [{"type": "text", "text": "no such page"}]
    result = {"content": content, "isError": True}
    return web.json_response(
        {"jsonrpc": "2.0", "id": body["id"], "result": result}, status=404
    )


ANSWERS: dict[str, Refusal] = {
    "result": not_there,
    "invalid parameters": error(-32602, "no such page", status=404),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_call_that_is_answered_is_not_made_again_whatever_its_status(
    name: str,
) -> None:
    async with restarted(plain(404), tool=ANSWERS[name]) as (served, stage):
        await stage.call("tools_add")

    assert len(served.ran) == 1
    assert len(stage.gate.ended) == 1
