"""Operations 1, 2 and 4 beside the nearest operations of ContextForge's own API.

Its servers are sets of tools, which its administrator publishes to agents.
"""

import asyncio
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import orjson
import psutil

from tests.bench import gateway_stage
from tests.bench.peers.comparison import Comparison, Measure, postgres, requests
from tests.bench.peers.contextforge import ContextForge, running_contextforge
from tests.bench.plan import Plan, Request
from tests.bench.stage import Stage

COUNT: Final = 64
TOOLS: Final = 3
PAGE: Final = 25
# It answers a few requests a second; more would only wait.
CONNECTIONS: Final = 16
SECONDS_MIN: Final = 10.0
THEIRS: Final = "ContextForge: `PUT /servers/{id}`"


def compared(stage: Stage) -> Generator[Comparison, None, None]:
    """Yield the comparisons.

    :raises MissingError: it can't be installed
    """
    database = postgres(stage.database_url)
    api = [psutil.Process(stage.api.pid), database]
    lists = [psutil.Process(stage.sessions_api.pid), database]
    connectors = asyncio.run(_connectors(stage))
    with running_contextforge(stage.folder / "contextforge") as forge:
        servers, tools = asyncio.run(_servers(forge))

        def theirs(name: str, sent: Sequence[Request]) -> Measure:
            plan = Plan(dict(forge.headers), list(sent))
            file = plan.write(stage.folder / f"contextforge-{name}.plan")
            return requests(
                forge.url,
                file,
                [forge.process],
                connections=CONNECTIONS,
                seconds_min=SECONDS_MIN,
            )

        yield Comparison(
            ours_is="operation 1, 16 connections",
            theirs_is=f"{THEIRS}, its tools",
            ours=requests(stage.api.url, stage.rules, api, connections=CONNECTIONS),
            theirs=theirs(
                "tools",
                [
                    _put(each, {"associated_tools": chosen})
                    for chosen in (tools, tools[1:])
                    for each in servers
                ],
            ),
        )
        yield Comparison(
            ours_is="operation 2 and its opposite in turn, 16 connections",
            theirs_is=f"{THEIRS}, public and private in turn",
            ours=requests(stage.api.url, connectors, api, connections=CONNECTIONS),
            theirs=theirs(
                "visibility",
                [
                    _put(each, {"visibility": visibility})
                    for visibility in ("public", "private")
                    for each in servers
                ],
            ),
        )
        yield Comparison(
            ours_is="operation 4, 25 sessions, 16 connections",
            theirs_is="ContextForge: 25 servers",
            ours=requests(
                stage.sessions_api.url,
                stage.session_list,
                lists,
                connections=CONNECTIONS,
            ),
            theirs=theirs("list", [Request("GET", f"/servers?limit={PAGE}")]),
        )


def _put(server: str, body: Any) -> Request:
    return Request("PUT", f"/servers/{server}", orjson.dumps(body))


async def _connectors(stage: Stage) -> Path:
    """Make connectors, and write the plan that makes them public and private."""
    headers = Plan.read(stage.catalog).headers
    token = headers["Authorization"].removeprefix("Bearer ")
    async with aiohttp.ClientSession() as http:
        api = gateway_stage.Api(http, stage.api.url, token)
        paths = []
        for number in range(COUNT):
            body = {"name": f"Bench {number}", "url": "https://bench.example/mcp"}
            made = await api.send("POST", "/api/mcp/connectors", body)
            paths.append(f"/api/mcp/connectors/{made['id']}/grants/public")
    plan = Plan(
        headers,
        [Request(method, path) for method in ("POST", "DELETE") for path in paths],
    )
    return plan.write(stage.folder / "public.plan")


async def _servers(forge: ContextForge) -> tuple[list[str], list[str]]:
    """Make tools and servers with them; return the ids of both."""
    async with forge.api() as api:
        tools = []
        for number in range(TOOLS):
            tool = {
                "name": f"tool-{number}",
                "url": f"http://127.0.0.1:1/{number}",
                "integration_type": "REST",
                "request_type": "POST",
            }
            tools.append((await api.send("POST", "/tools", {"tool": tool}))["id"])
        servers = []
        for number in range(COUNT):
            served = {"name": f"bench-{number}", "associated_tools": tools}
            made = await api.send("POST", "/servers", {"server": served})
            servers.append(made["id"])
    return servers, tools
