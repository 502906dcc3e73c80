import pytest

from tests.support.callers import Caller, Callers


@pytest.fixture
async def owner(callers: Callers) -> Caller:
    """Owns connectors, and manages no agent."""
    return await callers.user("owner")
