"""The pool and the key ring below the service, and a caller with a secret above it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.database import connection_pool, service_conninfo
from service.secrets.canary import Pool
from service.secrets.key_ring import KeyRing
from tests.callers import Caller, Callers
from tests.secrets.asking import TOKEN


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async with connection_pool(service_conninfo(database_url)) as opened:
        yield opened


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing.load_or_create(tmp_path / "keys.json")


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    """Someone with the secret of ``tests.secrets.asking``."""
    caller = await callers.user("ada")
    created = await caller.post("/api/secrets", TOKEN)
    assert (created.status, created.message) == (201, "secret created")
    return caller
