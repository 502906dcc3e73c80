"""The MCP endpoints over a fake gate, with the official SDK's clients before them."""

import hmac
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from aiohttp import web
from aiohttp.test_utils import TestClient

from service.gateway.bounds import DEFAULT_BOUNDS, Bounds
from service.gateway.endpoint.cancellations import Cancellations
from service.gateway.endpoint.questions import Questions
from service.gateway.endpoint.routes import AGENT_SERVER, routes
from service.gateway.health.table import CredentialReturned, Failed, Succeeded
from service.gateway.observer import DefinitionObserver
from service.gateway.protocol.revisions import (
    ACCEPT,
)
from service.gateway.serving import open_gateway
from service.gateway.upstream.connections import open_upstream_connections
from service.http.app_keys import WAITS
from service.http.client_address import TRUSTED_PROXIES
from service.http.middleware import edge
from service.http.operation import add_operations
from service.http.read_server import READS_ONLY
from service.http.server import DRAINING, Draining
from service.keys.cipher import length_prefixed
from service.networks import Network
from service.tracing.tracing import Tracing
from service.upstream_http.addresses import AddressPolicy
from service.waits import Waits
from tests.integration.gateway.fake_gate import TOKEN, FakeGate
from tests.integration.gateway.plain_upstream import (
    Answer,
    PlainUpstream,
    hello,
    plain_upstream,
)
from tests.support.configured import configured
from tests.support.gateway.served import stateless
from tests.support.http_server import Server
from tests.support.waiting import until

if TYPE_CHECKING:
    from mcp import Client

LOOPBACK = ip_network("127.0.0.0/8")
CALL: Mapping[str, Any] = {"name": "tools_add", "arguments": {}}


@asynccontextmanager
async def official_client(
    server: TestClient, path: str, token: str, mode: str, **settings: Any
) -> "AsyncIterator[Client]":
    # Tests without it don't import it.
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    url, headers = str(server.make_url(path)), {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(
            streamable_http_client(url, http_client=http), mode=mode, **settings
        ) as client,
    ):
        yield client


async def unannounced(_payloads: Sequence[str]) -> None:
    """Tell no other process: there is none."""


class Unsealed:
    """Says for which name a message is, and seals nothing: no other can read it."""

    def seal(self, message: bytes, name: str) -> bytes:
        return uuid4().bytes + name.encode() + message

    def open(self, sealed: bytes, name: str) -> bytes | None:
        named, begin = sealed[len(uuid4().bytes) :], name.encode()
        return named.removeprefix(begin) if named.startswith(begin) else None


@dataclass(frozen=True)
class Stage:
    gate: FakeGate
    http: TestClient
    observer: DefinitionObserver
    # How observations ended.
    noted: list[Succeeded | Failed]
    # Answers that held the credential of their requests.
    returned: list[CredentialReturned]

    def path(self, connector_id: UUID | None = None) -> str:
        path = f"/mcp/agents/{self.gate.agent_id}"
        return path if connector_id is None else f"{path}/connectors/{connector_id}"

    def client(
        self, mode: str, connector_id: UUID | None = None, **settings: Any
    ) -> "AbstractAsyncContextManager[Client]":
        """The official client, as an agent."""
        path = self.path(connector_id)
        return official_client(self.http, path, TOKEN, mode, **settings)

    async def post(self, body: Any, **headers: str) -> "Posted":
        """Post a body as an agent would; bytes are sent as they are."""
        sent = {"Authorization": f"Bearer {TOKEN}", "Accept": ACCEPT}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        kind = {"data": BytesIO(body)} if isinstance(body, bytes) else {"json": body}
        if isinstance(body, bytes):
            sent.setdefault("Content-Type", "application/json")
        async with self.http.post(self.path(), headers=sent, **kind) as response:
            text = await response.text()
            is_json = response.content_type == "application/json" and text
            return Posted(
                response.status,
                await response.json() if is_json else {},
                dict(response.headers),
                text,
            )

    async def ask(
        self, method: str, params: Mapping[str, Any] | None = None, /, **headers: str
    ) -> "Posted":
        """Send a request of the stateless revision."""
        body, sent = stateless(method, params or {})
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.post(body, **sent)

    async def call(self, name: str, /, **arguments: Any) -> "Posted":
        return await self.ask("tools/call", {"name": name, "arguments": arguments})

    async def first_answer(self, name: str) -> None:
        """Call until the upstream has answered, however slow the machine is.

        Then its revision is known, and there is a connection to it.
        """

        async def is_answered() -> bool:
            return "isError" not in (await self.call(name)).body["result"]

        await until(is_answered)


@dataclass(frozen=True)
class Posted:
    status: int
    body: dict[str, Any]
    headers: dict[str, str]
    text: str

    @property
    def code(self) -> int:
        code: int = self.body["error"]["code"]
        return code

    @property
    def content(self) -> str:
        text: str = self.body["result"]["content"][0]["text"]
        return text


@asynccontextmanager
async def opened(
    gate: FakeGate | None = None,
    networks: Sequence[Network] = (LOOPBACK,),
    *,
    hold_s: float = 0.0,
    approval_url: str | None = None,
    traces: Tracing | None = None,
    bounds: Bounds = DEFAULT_BOUNDS,
    cancellations: Cancellations | None = None,
    questions: Questions | None = None,
) -> AsyncIterator[Stage]:
    gate = gate or FakeGate()
    noted: list[Succeeded | Failed] = []
    returned: list[CredentialReturned] = []

    async def note(each: Succeeded | Failed | CredentialReturned) -> None:
        if isinstance(each, CredentialReturned):
            returned.append(each)
        else:
            noted.append(each)

    app = web.Application(middlewares=[edge])
    app[TRUSTED_PROXIES] = ()
    app[READS_ONLY] = False
    app[DRAINING] = Draining()
    app[WAITS] = Waits()
    config = configured(gateway_hold_s=hold_s, gateway_approval_url=approval_url)
    async with (
        open_upstream_connections(AddressPolicy(networks), bounds) as connections,
        open_gateway(
            gate,
            lambda *parts: hmac.digest(b"key", length_prefixed(*parts), "sha256"),
            connections,
            config,
            traces,
            note=note,
            cancellations=cancellations or Cancellations(unannounced),
            questions=questions or Questions(unannounced, Unsealed()),
        ) as gateway,
    ):
        app[AGENT_SERVER] = gateway.server
        add_operations(app, routes.operations)
        async with TestClient(Server(app)) as http:
            yield Stage(gate, http, gateway.observer, noted, returned)


@asynccontextmanager
async def forwarding(
    answer: Answer = hello, **settings: Any
) -> AsyncIterator[tuple[PlainUpstream, Stage]]:
    """The agent holds a connector with the tool ``add``, at an upstream of ours."""
    async with plain_upstream(answer) as upstream, opened(**settings) as stage:
        stage.gate.connect(upstream.url, "add")
        yield upstream, stage
