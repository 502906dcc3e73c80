"""A caller with a secret."""

import pytest

from tests.integration.secrets.asking import TOKEN
from tests.support.callers import Caller, Callers


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    """Someone with the secret of ``tests.integration.secrets.asking``."""
    caller = await callers.user("ada")
    created = await caller.post("/api/secrets", TOKEN)
    assert (created.status, created.message) == (201, "secret created")
    return caller
