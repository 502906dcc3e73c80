"""Operations of the tests' own, beside the service's."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

import pytest
import pytest_asyncio
import uvloop
from aiohttp import web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient

from service.app import create_app
from service.http.envelope import Answer
from service.http.operation import Routes, add_operations
from service.http.rate_limit import RateLimit
from service.open_resources import open_resources
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.databases import fresh_database
from tests.support.http_server import Server

routes = Routes("test")

SECRET = "SELECT 'a secret of the failed statement'"
COSTLY = RateLimit(burst=2, interval_s=60)


@routes.get("/test/broken", answers={200: "never"})
async def get_broken(_request: web.Request) -> Answer[None]:
    raise RuntimeError(SECRET)


@routes.get("/test/costly", answers={200: "yours"}, rate_limit=COSTLY)
async def get_costly(_request: web.Request) -> Answer[None]:
    return Answer(message="yours", data=None)


@routes.get("/test/cached", answers={200: "cached"}, public=True)
async def get_cached(_request: web.Request) -> Answer[None]:
    return Answer(message="cached", data=None, headers={"Cache-Control": "max-age=60"})


@dataclass(frozen=True, slots=True)
class Shared:
    """A service for the many cases of one module, which all refuse: ``ada`` calls."""

    resources: Resources
    callers: Callers
    ada: Caller


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(
    postgres: str, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Shared]:
    """A running service; its tests are marked ``asyncio(loop_scope="module")``."""
    with fresh_database(postgres, template) as url:
        async with (
            open_resources(url, tmp_path_factory.mktemp("shared")) as resources,
            TestClient(Server(create_app(resources))) as client,
        ):
            callers = Callers(resources, client)
            yield Shared(resources, callers, await callers.user("ada"))


@pytest.fixture
async def edge(resources: Resources, aiohttp_client: AiohttpClient) -> Callers:
    """Callers of the service with this file's operations, without followers."""
    app = create_app(resources)
    add_operations(app, routes.operations)
    return Callers(resources, await aiohttp_client(Server(app)))


@pytest.fixture
async def ada(edge: Callers) -> Caller:
    return await edge.user("ada")


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the server's tests on uvloop too, as the service does."""
    factories = {"asyncio": asyncio.new_event_loop}
    if item.path.name in ("test_server.py", "test_chunked_bodies.py"):
        factories["uvloop"] = uvloop.new_event_loop
    return factories
