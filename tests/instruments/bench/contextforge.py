"""ContextForge, an MCP gateway in Python, as a peer of ours.

One worker on SQLite, its default, with authentication; without what would slow it
down: rate limits, plugins, pages.
"""

import asyncio
import os
import secrets
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import aiohttp
import orjson
import psutil

from service.gateway.protocol.revisions import ACCEPT, JSON, REVISION_HEADER
from tests.instruments.bench.gateway_stage import ARGUMENTS, Target
from tests.support.harness.environment import installed_from
from tests.support.harness.process import Process, ProcessError, free_ports
from tests.support.project import ROOT
from tests.support.waiting import until

LOCK: Final = Path(__file__).with_name("contextforge-requirements.txt")
ADMIN: Final = "admin@example.com"
# The newest that it speaks.
REVISION: Final = "2025-11-25"
START_TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class ContextForge:
    url: str
    process: psutil.Process
    headers: Mapping[str, str]

    @asynccontextmanager
    async def api(self) -> AsyncIterator["Api"]:
        async with aiohttp.ClientSession(self.url, headers=self.headers) as http:
            yield Api(http)


class Api:
    """Its own API, as its administrator."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self._http = http

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        async with self._http.request(method, path, json=body) as answer:
            answer.raise_for_status()
            return await answer.json()

    async def is_ready(self) -> bool:
        try:
            async with self._http.get("/health") as answer:
                return answer.status == HTTPStatus.OK
        except aiohttp.ClientConnectionError:
            return False


@contextmanager
def running_contextforge(folder: Path) -> Iterator[ContextForge]:
    """Run it on an empty database.

    :raises MissingError: it can't be installed
    """
    programs = installed_from(LOCK, ROOT / ".contextforge") / "bin"
    folder.mkdir()
    (port,) = free_ports(1)
    # All of its environment: it would read settings from ours.
    settings = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'contextforge.db'}",
        "AUTH_REQUIRED": "true",
        "JWT_SECRET_KEY": secrets.token_urlsafe(48),
        "AUTH_ENCRYPTION_SECRET": secrets.token_urlsafe(48),
        "PLATFORM_ADMIN_EMAIL": ADMIN,
        "PLATFORM_ADMIN_PASSWORD": f"Aa1!{secrets.token_urlsafe(16)}",
        "SSRF_ALLOW_LOCALHOST": "true",
        "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
        "RATE_LIMITING_ENABLED": "false",
        "PLUGINS_ENABLED": "false",
        "MCPGATEWAY_UI_ENABLED": "false",
        "LOG_LEVEL": "ERROR",
    }
    process = Process(
        [
            *(programs / "mcpgateway", "--host", "127.0.0.1"),
            *("--port", str(port), "--workers", "1"),
        ],
        folder / "contextforge.log",
        environment=settings,
        folder=folder,
    )
    process.start()
    try:
        headers = {
            "Authorization": f"Bearer {_token(programs, settings, folder)}",
            "Content-Type": JSON,
            "Accept": ACCEPT,
            REVISION_HEADER: REVISION,
        }
        forge = ContextForge(
            f"http://127.0.0.1:{port}", psutil.Process(process.pid), headers
        )
        asyncio.run(_ready(process, forge))
        yield forge
    finally:
        process.stop()


def _token(programs: Path, settings: Mapping[str, str], folder: Path) -> str:
    """Issue an administrator's token, whose calls it checks the least."""
    module = "mcpgateway.utils.create_jwt_token"
    made = subprocess.run(
        [programs / "python", "-m", module, "--username", ADMIN, "--admin"],
        env=settings,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


async def _ready(process: Process, forge: ContextForge) -> None:
    async with forge.api() as api:

        async def is_ready() -> bool:
            if not process.is_running:
                raise ProcessError("ContextForge ended")
            return await api.is_ready()

        await until(is_ready, timeout_s=START_TIMEOUT_S)


async def tool_call(forge: ContextForge, upstream_url: str) -> Target:
    """Return a call of an upstream's only tool through it."""
    async with forge.api() as api:
        upstream = {"name": "bench", "url": upstream_url, "transport": "STREAMABLEHTTP"}
        await api.send("POST", "/gateways", upstream)
        (tool,) = await api.send("GET", "/tools")
        served = {"name": "bench", "associated_tools": [tool["id"]]}
        server = await api.send("POST", "/servers", {"server": served})
    params = {"name": tool["name"], "arguments": ARGUMENTS}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Target(
        f"{forge.url}/servers/{server['id']}/mcp",
        forge.process,
        forge.headers,
        orjson.dumps(body),
    )
