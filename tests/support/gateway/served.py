"""The whole service as real processes, and an agent of it that calls tools."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import aiohttp

from service.gateway.protocol.errors import INVALID_PARAMS
from service.gateway.protocol.revisions import (
    ACCEPT,
    CAPABILITIES_KEY,
    JSON,
    METHOD_HEADER,
    NAME_HEADER,
    REVISION_HEADER,
    REVISION_KEY,
    STATELESS,
)
from tests.support.waiting import until

# The upstreams of tests are on this machine; nobody waits for a person.
GATEWAY_OPTIONS = ("--gateway-networks", "127.0.0.0/8", "--gateway-hold-s", "0")
TIMEOUT = aiohttp.ClientTimeout(total=300)


@dataclass(frozen=True, slots=True)
class Api:
    """Calls the API as one user."""

    http: aiohttp.ClientSession
    url: str
    token: str

    async def call(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> "Answer":
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent["Authorization"] = f"Bearer {self.token}"
        async with self.http.request(
            method, self.url + path, json=body, headers=sent
        ) as response:
            read = await response.json()
            return Answer(response.status, read["data"], dict(response.headers))

    async def do(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> "Answer":
        """Call the API, which accepts it."""
        answer = await self.call(method, path, body, **headers)
        assert answer.status < 300, (method, path, answer.data)
        return answer


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    data: Any
    headers: Mapping[str, str]

    @property
    def position(self) -> int:
        return int(self.headers["X-Event-Position"])


def stateless(
    method: str, params: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return body and headers of a request of the stateless revision."""
    meta = {REVISION_KEY: STATELESS, CAPABILITIES_KEY: {}, **params.get("_meta", {})}
    given = {**params, "_meta": meta}
    headers = {"Accept": ACCEPT, REVISION_HEADER: STATELESS, METHOD_HEADER: method}
    if "name" in params:
        headers[NAME_HEADER] = params["name"]
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": given}, headers


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent with a token, which calls tools."""

    http: aiohttp.ClientSession
    url: str
    token: str

    async def ask(
        self, method: str, params: Mapping[str, Any], **headers: str
    ) -> tuple[int, Any]:
        """Send a request of the stateless revision; return the status and the message.

        :raises aiohttp.ClientError: the connection broke
        """
        body, sent = stateless(method, params)
        sent["Authorization"] = f"Bearer {self.token}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.http.post(self.url, json=body, headers=sent) as response:
            if response.content_type == JSON:
                return response.status, await response.json()
            return response.status, await response.text()

    async def call(
        self, name: str, arguments: Any, *, trace_id: str = ""
    ) -> tuple[int, Any]:
        """Call a tool; the upstream and the call's event are told the trace's id."""
        params = {"name": name, "arguments": arguments}
        if trace_id:
            params["_meta"] = {"traceparent": f"00-{trace_id}-{'1' * 16}-01"}
        return await self.ask("tools/call", params)

    async def listed(self) -> list[str]:
        _, message = await self.ask("tools/list", {})
        return [each["name"] for each in message["result"]["tools"]]


def is_refused(answer: tuple[int, Any]) -> bool:
    """Say whether the token or the tool isn't allowed, and not merely not now."""
    status, message = answer
    code = message.get("error", {}).get("code") if isinstance(message, dict) else None
    return status == HTTPStatus.UNAUTHORIZED or code == INVALID_PARAMS


def is_answered(answer: tuple[int, Any]) -> bool:
    """Say whether a call had a result that is no error."""
    _, message = answer
    if isinstance(message, str):
        return '"result"' in message and '"isError":true' not in message
    return "result" in message and not message["result"].get("isError")


@dataclass(frozen=True, slots=True)
class Setting:
    """An agent that holds one connector; the one who manages both; their paths."""

    manager: Api
    agent: Agent
    agent_id: str
    connector_id: str
    token_id: str

    @property
    def agent_path(self) -> str:
        return f"/api/mcp/agents/{self.agent_id}"

    @property
    def connector_path(self) -> str:
        return f"/api/mcp/connectors/{self.connector_id}"

    async def rule(self, **stances: str) -> Answer:
        """Replace the rules; ``any`` stands for ``*``."""
        rules = [
            {
                "connector_id": self.connector_id,
                "tool_pattern": pattern.replace("any", "*"),
                "stance": stance,
            }
            for pattern, stance in stances.items()
        ]
        path = f"{self.agent_path}/tools"
        return await self.manager.do("PUT", path, {"rules": rules})


async def new_setting(manager: Api, upstream_url: str, *tools: str) -> Setting:
    """Let an agent hold a connector, whose tools the gateway has observed."""
    described = {"name": "Upstream", "url": upstream_url}
    connector = (await manager.do("POST", "/api/mcp/connectors", described)).data["id"]
    path = "/api/catalog/agents"
    agent_id = (await manager.do("POST", path, {"name": "Caller"})).data["id"]
    grant = f"/api/mcp/connectors/{connector}/grants/agents/{agent_id}"
    await manager.do("PUT", grant)
    tokens = f"/api/mcp/agents/{agent_id}/tokens"
    token = (await manager.do("POST", tokens, {"label": "test"})).data
    url = f"{manager.url}/mcp/agents/{agent_id}/connectors/{connector}"
    agent = Agent(manager.http, url, token["token"])
    setting = Setting(manager, agent, agent_id, connector, token["id"])
    await setting.rule(any="allow")

    async def all_listed() -> bool:
        return {*tools} <= {*await agent.listed()}

    await until(all_listed, timeout_s=300)
    return setting


@asynccontextmanager
async def new_session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(
        timeout=TIMEOUT, connector=aiohttp.TCPConnector(limit=0)
    ) as http:
        yield http
        # Connections of TLS would still be closing; so may ours.
        await asyncio.sleep(0)
