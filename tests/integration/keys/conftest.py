"""The pool and the key ring below the service."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.connection_pool import connection_pool
from service.database import Pool, service_conninfo
from service.keys.key_ring import KeyRing


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async with connection_pool(service_conninfo(database_url)) as opened:
        await opened.wait(60)
        yield opened


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing.load_or_create(tmp_path / "keys.json")
