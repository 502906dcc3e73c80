"""Two processes, stopped one after the other: nobody behind a proxy notices it."""

import asyncio
import itertools
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from service.config import Config
from tests.integration.proxies.programs import Proxy, running_proxy
from tests.support.harness.process import free_ports
from tests.support.harness.service import Server, running, serving
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

CALLERS = 4
ASKED = "/api/users/me"
DELAY_S = Config.model_fields["shutdown_delay_s"].default


@pytest.fixture
def servers(database_url: str, tmp_path: Path) -> Iterator[list[Server]]:
    """Two processes with the default delay and the same keys."""
    with ExitStack() as stack:
        servers: list[Server] = []
        for port in free_ports(2):
            data = tmp_path / f"data-{port}"
            if servers:
                data.mkdir()
                shutil.copy2(tmp_path / "keys.json", data)
            server = serving(
                *("--data-dir", str(data), "--database-url", database_url),
                *(("--only", "api") if servers else ()),
                log=tmp_path / f"log-{port}",
                port=port,
                settings={"AGENT_RUNTIME_SHUTDOWN_DELAY_S": str(DELAY_S)},
            )
            servers.append(stack.enter_context(running(server)))
            if len(servers) == 1:
                shutil.copy2(data / "keys.json", tmp_path)
        yield servers
        for server in servers:
            # Without the delay.
            server.send(signal.SIGINT)


async def test_every_request_is_answered(
    servers: list[Server], name: str, tmp_path: Path
) -> None:
    token = servers[0].admin_token
    urls = [server.url for server in servers]
    with running_proxy(name, tmp_path / "proxy", *urls) as proxy:
        restarted = asyncio.Event()
        asking = [
            asyncio.create_task(ask_until(restarted, proxy, token, caller))
            for caller in range(CALLERS)
        ]
        for server in servers:
            await restart(server)
        restarted.set()
        answered = await asyncio.gather(*asking)

    assert all(answered)


async def restart(server: Server) -> None:
    """Restart it, and wait until the proxy asks it again, as the documentation says."""
    server.send(signal.SIGTERM)
    assert await asyncio.to_thread(server.wait) == 0
    assert server.log is not None
    log = server.log
    logged = len(log.read_text())
    server.start()
    await asyncio.to_thread(server.wait_until_ready)
    await until(lambda: ASKED in log.read_text()[logged:])


async def ask_until(
    restarted: asyncio.Event, proxy: Proxy, token: str, caller: int
) -> int:
    """Read and write by turns, nothing twice; return how often that was."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=proxy.url, verify=proxy.tls, headers=headers, timeout=60
    ) as http:
        for number in itertools.count():
            read = await http.get(ASKED)
            assert read.status_code == httpx.codes.OK, read.text
            body = {"name": f"agent {number} of {caller}"}
            made = await http.post("/api/catalog/agents", json=body)
            assert made.status_code == httpx.codes.CREATED, made.text
            if restarted.is_set():
                return number
    raise AssertionError
