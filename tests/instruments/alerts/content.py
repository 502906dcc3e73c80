"""What users have given the service is gone or wrong."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.instruments.alerts.installation import Installation
from tests.integration.gateway.plain_upstream import PlainUpstream, hello
from tests.support.gateway.served import Api
from tests.support.harness.process import refusing_port
from tests.support.sessions.otlp.spans import PROTOBUF, TRACES, export, llm, span

SECRET: Final = "/api/secrets/TOKEN"
CONNECTORS: Final = "/api/mcp/connectors"
TURN_S: Final = 0.5
PROMPT: Final = 1_000_000
RIGHT: Final = "10"
WRONG: Final = "100"


@asynccontextmanager
async def sealed_value_deleted(service: Installation) -> AsyncIterator[None]:
    """Mended by setting the secret anew."""
    admin = service.admin
    secret = {"name": "TOKEN", "value": "hidden"}
    await admin.do("POST", "/api/secrets", secret)
    with service.connect() as db:
        db.execute("DELETE FROM events.sealed_value")
    answer = await admin.call("GET", f"{SECRET}/value")
    assert answer.data["code"] == "unreadable_value", answer
    yield
    await admin.do("PUT", SECRET, {"value": "hidden"})
    await admin.do("GET", f"{SECRET}/value")


@asynccontextmanager
async def wrong_price(service: Installation) -> AsyncIterator[None]:
    """Mended by a correction of the price."""
    admin = service.admin
    provider = {"key": "acme", "display_name": "Acme"}
    await admin.do("POST", "/api/llm-router/providers", provider)
    price = {
        "provider": "acme",
        "model": "swift",
        "input_price_per_1m": WRONG,
        "output_price_per_1m": "0",
        "effective_from": "2026-01-01T00:00:00Z",
    }
    given = (await admin.do("POST", "/api/llm-router/prices", price)).data
    agent = await admin.do("POST", "/api/catalog/agents", {"name": "observed"})
    service.beside(_report_turns(admin, agent.data["id"]))
    yield
    version = given["price"]["price_version"]
    path = f"/api/llm-router/models/{given['model_id']}/prices/{version}/corrections"
    right = {"input_price_per_1m": RIGHT, "output_price_per_1m": "0"}
    await admin.do("POST", path, right)


async def _report_turns(admin: Api, agent_id: str) -> None:
    """Report turns without end, each with the cost that it really had."""
    headers = {"Content-Type": PROTOBUF, "Authorization": f"Bearer {admin.token}"}
    for number in itertools.count(1):
        words: dict[str, Any] = {"trace": number, "start": number}
        body = export(
            agent_id,
            span(1, session__id=f"session-{number}", **words),
            llm(2, 1, PROMPT, 0, llm__cost__total=float(RIGHT), **words),
        )
        async with admin.http.post(
            f"{admin.url}{TRACES}", data=body.SerializeToString(), headers=headers
        ):
            await asyncio.sleep(TURN_S)


@asynccontextmanager
async def connector_gone(service: Installation) -> AsyncIterator[None]:
    """Mended by starting its server; its owner then lets the service look."""
    admin = service.admin
    with refusing_port() as port:
        described = {"name": "Upstream", "url": f"http://127.0.0.1:{port}/mcp"}
        connector = (await admin.do("POST", CONNECTORS, described)).data["id"]
        agent = await admin.do("POST", "/api/catalog/agents", {"name": "caller"})
        path = f"{CONNECTORS}/{connector}"
        await admin.do("PUT", f"{path}/grants/agents/{agent.data['id']}")
        yield
    app = web.Application()
    app.router.add_post("/mcp", PlainUpstream(hello, ("list",)).handle)
    await service.stack.enter_async_context(TestServer(app, port=port))
    await admin.do("POST", f"{path}/observe")
