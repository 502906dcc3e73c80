"""The client's example of a bot that approves pending calls, run as a process."""

import asyncio
import os
import runpy
import sys
from typing import Any
from uuid import UUID

import httpx

from agent_runtime_client import AgentRuntime
from service.gateway.gate import Admitted, Pending
from tests.integration.client.conftest import url_of
from tests.integration.gateway.world import ASK, World
from tests.support.project import ROOT

BOT = ROOT / "client" / "examples" / "approval_bot.py"
SHORT = {"title": "the login fix"}
LONG = {"title": "x" * 1000}


async def run(world: World, *patterns: str) -> list[str]:
    await world.read("/api/mcp/approvals?state=pending")
    assert world.ada.token is not None
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", str(BOT), "--once", *patterns),
        env={
            "PATH": os.environ["PATH"],
            "PYTHONUTF8": "1",
            "AGENT_RUNTIME_SERVER": url_of(world.client),
            "AGENT_RUNTIME_TOKEN": world.ada.token,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
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
    assert [type(each) for each in answers] == [Admitted, Pending, Pending]


async def test_arguments_with_a_fraction_are_judged_too(world: World) -> None:
    await world.rule(issues_any=ASK)
    assert isinstance(await world.call("issues.create", {"estimate": 0.5}), Pending)

    assert await run(world, "issues.*") == ["approved: issues.create"]


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

    http = httpx.Client(transport=httpx.MockTransport(handle))
    approve_pending = runpy.run_path(str(BOT))["approve_pending"]

    lines = list(approve_pending(AgentRuntime("http://test", http=http), ["tool_*"]))

    assert lines == ["error: tool_1 (forbidden)", "approved: tool_2"]


def test_an_approval_whose_answer_was_lost_is_not_called_undecided() -> None:
    approval = {"id": str(UUID(int=1)), "agent_id": str(UUID(int=0)), "tool": "tool"}

    def handle(request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            raise httpx.ReadError("connection reset")
        data: dict[str, Any] = {**approval, "arguments": SHORT, "version": 1}
        if request.url.path == "/api/mcp/approvals":
            data = {"approvals": [approval], "end_cursor": None}
        return httpx.Response(200, json={"data": data, "message": ""})

    http = httpx.Client(transport=httpx.MockTransport(handle))
    approve_pending = runpy.run_path(str(BOT))["approve_pending"]
    runtime = AgentRuntime("http://test", http=http, max_retries=0)

    lines = list(approve_pending(runtime, ["tool"]))

    assert lines == ["error: tool (outcome_unknown)"]


async def test_it_ends_where_its_token_is_refused(world: World) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", str(BOT), "issues.*"),
        env={
            "PATH": os.environ["PATH"],
            "AGENT_RUNTIME_SERVER": url_of(world.client),
            "AGENT_RUNTIME_TOKEN": "art_x",
        },
        stderr=asyncio.subprocess.PIPE,
    )

    _, err = await process.communicate()

    assert process.returncode == 1
    assert b"UnauthenticatedError" in err


async def test_it_goes_on_while_the_service_cannot_be_reached() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", str(BOT), "issues.*"),
        env={
            "PATH": os.environ["PATH"],
            "AGENT_RUNTIME_SERVER": "http://127.0.0.1:9",
            "AGENT_RUNTIME_TOKEN": "art_x",
        },
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        said = [await process.stderr.readline() for _ in range(2)]
    finally:
        process.kill()
        await process.wait()

    assert all(line.startswith(b"trying again: connection_failed") for line in said)
