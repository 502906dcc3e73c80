"""The client's example of a bot that approves pending calls, run as a process."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from service.gateway.gate import Admitted, Pending
from tests.client.conftest import url_of
from tests.gateway.world import ASK, World

BOT = Path(__file__).parents[2] / "client" / "examples" / "approval_bot.py"
SHORT = {"title": "the login fix"}
LONG = {"title": "x" * 1000}

pytestmark = pytest.mark.processes


async def run(world: World, *patterns: str) -> list[str]:
    await world.gate.recorder.flush(all_of_them=True)
    head = (await world.resources.log.head()).position
    inbox = "/api/mcp/approvals?state=pending"
    assert (await world.ada.get(inbox, X_Min_Position=str(head))).status == 200
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
