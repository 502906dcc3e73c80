"""A second process of the service, with the gateway's endpoints."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient

from service.app import create_app
from service.open_resources import open_resources
from tests.integration.gateway.world import World
from tests.support.configured import calling_loopback
from tests.support.http_server import Server


@asynccontextmanager
async def another_process(
    world: World, folder: Path, **settings: Any
) -> AsyncIterator[TestClient]:
    """Yield a client of it; it has the world's database and keys."""
    database_url = world.resources.database_url
    async with open_resources(database_url, folder) as resources:
        app = create_app(resources, calling_loopback(**settings))
        async with TestClient(Server(app)) as client:
            yield client
