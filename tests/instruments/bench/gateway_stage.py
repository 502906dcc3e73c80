"""Everything that calls through the gateway are measured with, set up once."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import aiohttp
import orjson
import psutil

from service.embedded_postgres.server import EmbeddedPostgres
from service.gateway.protocol.revisions import (
    ACCEPT,
    CAPABILITIES_KEY,
    JSON,
    REVISION_KEY,
    STATELESS,
)
from service.migrate import migrate
from service.open_resources import open_resources
from tests.instruments.bench import processes
from tests.instruments.bench.bare import Recorded
from tests.instruments.bench.plan import Plan, Request
from tests.instruments.bench.upstream import TOOL
from tests.support.gateway.observing import observe
from tests.support.harness.service import AGENT_RUNTIME, Server, running

DEAD_CONNECTORS: Final = 40
DEAD_TOOLS: Final = 25
ARGUMENTS: Final = {"text": "some text of a few words", "number": 42}


@dataclass(frozen=True, slots=True)
class Target:
    """A URL to call, and the process whose CPU time counts."""

    url: str
    process: psutil.Process
    headers: Mapping[str, str]
    body: bytes

    @property
    def plan(self) -> Plan:
        path = urlsplit(self.url).path
        return Plan(dict(self.headers), [Request("POST", path, self.body)])

    async def call(self, http: aiohttp.ClientSession) -> bytes:
        async with http.post(self.url, data=self.body, headers=self.headers) as answer:
            body = await answer.read()
            if answer.status != 200 or b'"error"' in body or b":true" in body[-40:]:
                raise RuntimeError(body[:500])
            return body


def target(
    server: Server,
    path: str,
    method: str = "tools/call",
    token: str = "",
    name: str = TOOL,
) -> Target:
    assert server.popen is not None
    params: dict[str, Any] = {"_meta": {REVISION_KEY: STATELESS, CAPABILITIES_KEY: {}}}
    headers = {
        "Content-Type": JSON,
        "Accept": ACCEPT,
        "MCP-Protocol-Version": STATELESS,
        "Mcp-Method": method,
    }
    if method == "tools/call":
        params |= {"name": name, "arguments": ARGUMENTS}
        headers["Mcp-Name"] = name
    if token:
        headers["Authorization"] = f"Bearer {token}"
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Target(
        server.url + path,
        psutil.Process(server.popen.pid),
        headers,
        orjson.dumps(body),
    )


def upstream(
    kind: str, folder: Path, *, under: Sequence[str] = ()
) -> AbstractContextManager[Server]:
    """Run an upstream; ``under`` comes before the command."""
    command = [*under, sys.executable, "-m", "tests.instruments.bench.upstream", kind]
    return running(Server(command, folder / f"{kind}.log"))


def gateway(
    database_url: str, folder: Path, *, program: Sequence[str] = AGENT_RUNTIME
) -> AbstractContextManager[Server]:
    """Run the API, with upstreams on this machine allowed."""
    options = ("--gateway-networks", "127.0.0.0/8")
    return processes.service(database_url, folder, options=options, program=program)


class Api:
    """The API, as its first administrator."""

    def __init__(self, http: aiohttp.ClientSession, url: str, token: str) -> None:
        self._http = http
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        async with self._http.request(
            method, self._url + path, json=body, headers=self._headers
        ) as answer:
            parsed = await answer.json()
            if answer.status >= 400:
                raise RuntimeError(parsed)
            return parsed["data"]


async def agent(api: Api) -> tuple[str, str]:
    """Make an agent; return its id and a token of it."""
    agent_id = (await api.send("POST", "/api/catalog/agents", {"name": "Bench"}))["id"]
    issued = await api.send(
        "POST", f"/api/mcp/agents/{agent_id}/tokens", {"label": "bench"}
    )
    return agent_id, issued["token"]


async def connect(api: Api, agents: list[str], url: str, mode: str, name: str) -> str:
    """Make a connector that agents hold; return its id."""
    made = await api.send("POST", "/api/mcp/connectors", {"name": name, "url": url})
    connector: str = made["id"]
    for each in agents:
        path = f"/api/mcp/connectors/{connector}/grants/agents/{each}"
        await api.send("PUT", path)
    settings = {"slug": name, "record_mode": mode}
    await api.send("PUT", f"/api/mcp/connectors/{connector}/gateway", settings)
    return connector


async def allow(api: Api, agent_id: str, connectors: list[str]) -> None:
    rules = [
        {"connector_id": each, "tool_pattern": "*", "stance": "allow"}
        for each in connectors
    ]
    await api.send("PUT", f"/api/mcp/agents/{agent_id}/tools", {"rules": rules})


@dataclass(frozen=True, slots=True)
class Stage:
    folder: Path
    database_url: str
    plain: Target
    sdk: Target
    ours: Mapping[str, Target]
    tools: Target
    bare_tools: Target


@contextmanager
def set_up() -> Iterator[Stage]:
    with ExitStack() as held:
        name = tempfile.TemporaryDirectory(prefix="agent-runtime-bench-")
        folder = Path(held.enter_context(name))
        postgres = held.enter_context(EmbeddedPostgres.start(folder))
        migrate(postgres.url)
        plain = held.enter_context(upstream("plain", folder))
        sdk = held.enter_context(upstream("sdk", folder))
        api = held.enter_context(gateway(postgres.url, folder))
        ours, tools = asyncio.run(
            _connectors(api, postgres.url, folder, plain.url, sdk.url)
        )
        answers = asyncio.run(_recorded(tools, folder / "tools.json"))
        bare_tools = held.enter_context(processes.bare(answers))
        yield Stage(
            folder=folder,
            database_url=postgres.url,
            plain=target(plain, "/mcp"),
            sdk=target(sdk, "/mcp"),
            ours=ours,
            tools=tools,
            bare_tools=target(bare_tools, "/tools", "tools/list"),
        )


async def _recorded(tools: Target, file: Path) -> Path:
    """Write down a list of tools, for a bare handler to give."""
    async with aiohttp.ClientSession() as http:
        body = (await tools.call(http)).decode()
    assert body.count("inputSchema") == DEAD_CONNECTORS * DEAD_TOOLS
    recorded = Recorded("POST", "/tools", 200, {"Content-Type": JSON}, body)
    file.write_text(json.dumps([asdict(recorded)]), encoding="utf-8")  # noqa: ASYNC240  # before anything is measured
    return file


async def _connectors(
    server: Server, database_url: str, folder: Path, plain: str, sdk: str
) -> tuple[dict[str, Target], Target]:
    token = server.admin_token
    urls = {"plain": plain, "sdk": sdk}
    ours: dict[str, Target] = {}
    pinned: dict[str, list[str]] = {}
    async with aiohttp.ClientSession() as http:
        api = Api(http, server.url, token)
        caller, caller_token = await agent(api)
        connectors: list[str] = []
        for mode in ("batched", "strict"):
            for kind, url in urls.items():
                name = f"{mode}-{kind}"
                connector = await connect(api, [caller], url + "/mcp", mode, name)
                connectors.append(connector)
                pinned[connector] = [TOOL]
                path = f"/mcp/agents/{caller}/connectors/{connector}"
                ours[name] = target(server, path, token=caller_token)
        await allow(api, caller, connectors)
        lister, lister_token = await agent(api)
        dead = [
            await connect(
                api, [lister], "http://127.0.0.1:1/mcp", "strict", f"dead-{n}"
            )
            for n in range(DEAD_CONNECTORS)
        ]
        pinned |= {each: [f"tool-{n}" for n in range(DEAD_TOOLS)] for each in dead}
        await allow(api, lister, dead)
        tools = target(server, f"/mcp/agents/{lister}", "tools/list", lister_token)
    async with open_resources(database_url, folder) as resources:
        for connector, names in pinned.items():
            definitions = [definition(each) for each in names]
            await observe(resources.log, UUID(connector), definitions)
    return ours, tools


def definition(name: str) -> dict[str, Any]:
    text = {"type": "string", "description": "What to look for."}
    schema = {"type": "object", "properties": {"text": text}}
    return {"name": name, "description": "Does something.", "inputSchema": schema}
