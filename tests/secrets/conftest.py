"""A caller with a secret."""

import pytest

from tests.callers import Caller, Callers
from tests.secrets.asking import TOKEN


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    """Someone with the secret of ``tests.secrets.asking``."""
    caller = await callers.user("ada")
    created = await caller.post("/api/secrets", TOKEN)
    assert (created.status, created.message) == (201, "secret created")
    return caller
