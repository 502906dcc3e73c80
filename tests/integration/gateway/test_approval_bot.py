"""The client's example of a bot that approves pending calls, run as a process."""

import asyncio
import os
import runpy
import sys
from asyncio.subprocess import Process
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx

from agent_runtime_client import AgentRuntime
from service.gateway.gate import Admission, Pending
from tests.integration.client.conftest import url_of
from tests.integration.gateway.world import ASK, World
from tests.support.project import ROOT

BOT = ROOT / "client" / "examples" / "approval_bot.py"
SHORT = {"title": "the login fix"}
LONG = {"title": "x" * 1000}


async def started(server: str, token: str, *arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", str(BOT), *arguments),
        env={
            "PATH": os.environ["PATH"],
            "PYTHONUTF8": "1",
            "AGENT_RUNTIME_SERVER": server,
            "AGENT_RUNTIME_TOKEN": token,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run(world: World, *patterns: str) -> list[str]:
    await world.read("/api/mcp/approvals?state=pending")
    assert world.ada.token is not None
    server = url_of(world.client)
    process = await started(server, world.ada.token, "--once", *patterns)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode().splitlines()


async def test_it_approves_short_calls_of_its_tools_alone(world: World) -> None:
    asked: list[tuple[str, Any]] = [
        ("issues.create", SHORT),
        ("issues.create", LONG),
        ("issues.delete", SHORT),
    ]
    await world.rule(issues_any=ASK)
    for name, arguments in asked:
        assert isinstance(await world.call(name, arguments), Pending)

    lines = await run(world, "issues.cr*", "calendar.*")

    assert "approved: issues.create" in lines
    assert len(lines) == len(asked)
    left = [line for line in lines if line.startswith("left to a person: ")]
    assert len(left) == len(asked) - 1
    answers = [await world.call(name, arguments) for name, arguments in asked]
    assert [type(each) for each in answers] == [Admission, Pending, Pending]


async def test_arguments_with_a_fraction_are_judged_too(world: World) -> None:
    await world.rule(issues_any=ASK)
    assert isinstance(await world.call("issues.create", {"estimate": 0.5}), Pending)

    assert await run(world, "issues.*") == ["approved: issues.create"]


def approved(handle: Callable[[httpx.Request], httpx.Response], *tools: str) -> Any:
    """Return what the bot prints of a service that answers like this."""
    http = httpx.Client(transport=httpx.MockTransport(handle))
    runtime = AgentRuntime("http://test", http=http, max_retries=0)
    return list(runpy.run_path(str(BOT))["approve_pending"](runtime, [*tools]))


def test_an_approval_that_may_not_be_read_is_left_out() -> None:
    pending = [
        {
            "id": str(UUID(int=each)),
            "agent_id": str(UUID(int=0)),
            "tool": f"tool_{each}",
        }
        for each in (1, 2)
    ]
    first, second = pending

    def handle(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        data: dict[str, Any]
        if path == "/api/mcp/approvals":
            data = {"approvals": pending, "end_cursor": None}
        elif first["id"] in path:
            data = {"code": "forbidden"}
        else:
            data = {**second, "arguments": SHORT, "version": 1}
        status = 403 if "code" in data else 200
        return httpx.Response(status, json={"data": data, "message": ""})

    assert approved(handle, "tool_*") == [
        "error: tool_1 (forbidden)",
        "approved: tool_2",
    ]


def test_an_approval_whose_answer_was_lost_is_not_called_undecided() -> None:
    approval = {"id": str(UUID(int=1)), "agent_id": str(UUID(int=0)), "tool": "tool"}

    def handle(request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            raise httpx.ReadError("connection reset")
        data: dict[str, Any] = {**approval, "arguments": SHORT, "version": 1}
        if request.url.path == "/api/mcp/approvals":
            data = {"approvals": [approval], "end_cursor": None}
        return httpx.Response(200, json={"data": data, "message": ""})

    assert approved(handle, "tool") == ["error: tool (outcome_unknown)"]


async def test_it_ends_where_its_token_is_refused(world: World) -> None:
    process = await started(url_of(world.client), "art_x", "issues.*")

    _, err = await process.communicate()

    assert process.returncode == 1
    assert b"UnauthenticatedError" in err


async def test_it_goes_on_while_the_service_cannot_be_reached() -> None:
    process = await started("http://127.0.0.1:9", "art_x", "issues.*")
    assert process.stderr is not None
    try:
        said = [await process.stderr.readline() for _ in range(2)]
    finally:
        process.kill()
        await process.wait()

    assert all(line.startswith(b"trying again: connection_failed") for line in said)
