"""Tools of the official TypeScript SDK that ask their client, as it answers them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from tests.instruments.mcp.suite import MODULES, node
from tests.support.gateway.served import GATEWAY_OPTIONS, Api, new_session, new_setting
from tests.support.harness.service import running
from tests.support.harness.service import serving as served

pytestmark = pytest.mark.conformance

SCRIPT: Final = Path(__file__).parent / "asking.mjs"
TIMEOUT_S: Final = 120


async def test_tools_that_ask_get_the_same_answers_through_the_gateway(
    tmp_path: Path,
) -> None:
    options = ("--data-dir", str(tmp_path / "data"), *GATEWAY_OPTIONS)
    async with asking_server() as upstream, new_session() as http:
        direct = await called(upstream)
        with running(served(*options, log=tmp_path / "log")) as service:
            admin = Api(http, service.url, service.admin_token)
            agent = (await new_setting(admin, upstream, *direct)).agent
            through = await called(agent.url, agent.token)

    assert len(direct) == 8
    assert not any(each.keys() & {"error", "isError"} for each in direct.values())
    assert through == direct


async def node_process(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        str(node()),
        str(SCRIPT),
        *arguments,
        cwd=MODULES.parent,
        stdout=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def asking_server() -> AsyncIterator[str]:
    process = await node_process("serve")
    assert process.stdout is not None
    try:
        async with asyncio.timeout(TIMEOUT_S):
            url = await process.stdout.readline()
        yield url.decode().strip()
    finally:
        process.kill()
        await process.wait()


async def called(url: str, token: str = "") -> dict[str, Any]:
    process = await node_process("call", url, token)
    async with asyncio.timeout(TIMEOUT_S):
        written, _ = await process.communicate()
    found: dict[str, Any] = orjson.loads(written)
    return found
