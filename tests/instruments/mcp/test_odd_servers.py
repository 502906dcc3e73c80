"""What clients can do with an odd server directly, they can do through the gateway.

And one odd server changes nothing of another's tools. With clients of the official SDKs
of Python and TypeScript, each in both eras.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import orjson
import pytest
from aiohttp.test_utils import TestServer
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.instruments.mcp.odd import HELLO, ODD, ODDITIES, PLAIN, odd_servers
from tests.instruments.mcp.suite import MODULES, node
from tests.support.gateway.served import GATEWAY_OPTIONS, Api, new_session
from tests.support.harness.service import running
from tests.support.harness.service import serving as served

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

SCRIPT: Final = Path(__file__).parent / "clients.mjs"
AT_ONCE: Final = 8
TIMEOUT_S: Final = 60

Found = Mapping[str, Any]


@dataclass(frozen=True)
class Visit:
    """A server, directly or through the gateway."""

    url: str
    token: str = ""


@pytest.mark.parametrize("is_stateless", [True, False], ids=["stateless", "handshake"])
@pytest.mark.parametrize("client", ["python", "typescript"])
@pytest.mark.parametrize("era", ["auto", "handshake"])
async def test_an_odd_server_hurts_nobody_else(
    tmp_path: Path, client: str, era: str, *, is_stateless: bool
) -> None:
    visit = {"python": by_python, "typescript": by_typescript}[client]
    options = ("--data-dir", str(tmp_path / "data"), *GATEWAY_OPTIONS)
    async with (
        TestServer(odd_servers(is_stateless=is_stateless)) as upstreams,
        TestServer(odd_servers(is_stateless=True)) as sane,
        new_session() as http,
    ):
        with running(served(*options, log=tmp_path / "log")) as service:
            admin = Api(http, service.url, service.admin_token)
            other = await connector(admin, "Sane", str(sane.make_url("/0")))
            urls = [str(upstreams.make_url(f"/{n}")) for n in range(len(ODDITIES))]
            agents = [await agent(admin, other, each) for each in urls]
            through = await visit(agents, era)
            direct = await visit([Visit(url) for url in urls], era)

    lost = []
    for odd, directly, found in zip(ODDITIES, direct, through, strict=True):
        tools = found.get("tools", {})
        if succeeded(tools.get("sane_plain")) != HELLO["content"]:
            lost.append((odd.name, "the other server's tool", found))
        for name in (ODD, PLAIN):
            had = directly.get("tools", {}).get(name)
            got = tools.get(f"odd_{name}")
            if succeeded(had) is None or (name == ODD and odd.is_refused):
                continue
            if not is_same(had, got):
                lost.append((odd.name, name, {"direct": had, "through": got}))
    assert lost == []
    worked = sum(ODD in each.get("tools", {}) for each in direct)
    print(f"{client}, {era}: {len(ODDITIES)} servers, {worked} usable directly")  # noqa: T201


def is_same(had: Found, got: Found | None) -> bool:
    """Whether a client got the same; where there is no content, the gateway adds it."""
    if got is None:
        return False
    is_added = not had["content"] and had["structured"] is not None
    return got == ({**had, "content": got.get("content")} if is_added else had)


def succeeded(outcome: Any) -> Any:
    return outcome.get("content") if outcome else None


async def connector(admin: Api, name: str, url: str) -> str:
    described = {"name": name, "url": url}
    made = await admin.do("POST", "/api/mcp/connectors", described)
    return str(made.data["id"])


async def agent(admin: Api, sane: str, url: str) -> Visit:
    """Return an agent that holds the sane connector and an odd one."""
    odd = await connector(admin, "Odd", url)
    made = await admin.do("POST", "/api/catalog/agents", {"name": "Caller"})
    agent_id = made.data["id"]
    for each in (sane, odd):
        await admin.do("PUT", f"/api/mcp/connectors/{each}/grants/agents/{agent_id}")
    await admin.do("POST", f"/api/mcp/connectors/{odd}/observe")
    rules = [
        {"connector_id": each, "tool_pattern": "*", "stance": "allow"}
        for each in (sane, odd)
    ]
    await admin.do("PUT", f"/api/mcp/agents/{agent_id}/tools", {"rules": rules})
    tokens = f"/api/mcp/agents/{agent_id}/tokens"
    token = (await admin.do("POST", tokens, {"label": "test"})).data["token"]
    return Visit(f"{admin.url}/mcp/agents/{agent_id}", token)


async def by_python(visits: Sequence[Visit], era: str) -> list[Found]:
    at_once = asyncio.Semaphore(AT_ONCE)
    mode = "legacy" if era == "handshake" else "auto"

    async def one(visit: Visit) -> Found:
        async with at_once:
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    return {"tools": await _visited(visit, mode)}
            except Exception as error:  # noqa: BLE001 # whatever a client raises
                return {"error": repr(error)[:500]}

    return await asyncio.gather(*map(one, visits))


async def _visited(visit: Visit, mode: Any) -> Found:
    headers = {"Authorization": f"Bearer {visit.token}"} if visit.token else {}
    found = {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S) as http,
        Client(
            streamable_http_client(visit.url, http_client=http), mode=mode
        ) as client,
    ):
        for tool in (await client.list_tools()).tools:
            found[tool.name] = await _called(client, tool.name)
    return found


async def _called(client: Client, name: str) -> Found:
    try:
        result = (await client.call_tool(name, {})).model_dump(mode="json")
    except Exception as error:  # noqa: BLE001 # whatever a client raises
        return {"error": repr(error)[:500]}
    content = [
        {key: each for key, each in part.items() if each is not None}
        for part in result["content"]
    ]
    return {
        "content": content,
        "structured": result["structured_content"],
        "failed": result["is_error"],
    }


async def by_typescript(visits: Sequence[Visit], era: str) -> list[Found]:
    wanted = [{"url": each.url, "token": each.token, "era": era} for each in visits]
    process = await asyncio.create_subprocess_exec(
        str(node()),
        SCRIPT,
        cwd=MODULES.parent,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    found, said = await process.communicate(orjson.dumps(wanted))
    assert process.returncode == 0, said.decode()[-2000:]
    results: list[Found] = orjson.loads(found.splitlines()[-1])
    return results
