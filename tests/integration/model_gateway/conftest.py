"""An owner of connections and presets, and ada, who manages an agent."""

from uuid import UUID

import pytest

from tests.support.callers import Caller, Callers
from tests.support.model_gateway.asking import (
    granted,
    new_connection,
    new_preset,
)
from tests.support.sessions.pricing import price_manager


@pytest.fixture
async def root(callers: Callers) -> Caller:
    """A superuser, who has added the provider of the models."""
    return await price_manager(callers)


@pytest.fixture
async def owner(callers: Callers) -> Caller:
    """Owns connections and presets, and manages no agent."""
    return await callers.user("owner")


@pytest.fixture
async def stranger(callers: Callers) -> Caller:
    return await callers.user("stranger")


@pytest.fixture
async def connection(owner: Caller) -> str:
    return await new_connection(owner)


@pytest.fixture
async def preset(owner: Caller, connection: str, agent: UUID) -> str:
    """A private one, which ``agent`` may call."""
    made = await new_preset(owner, connection)
    await granted(owner, made, agent)
    return made
