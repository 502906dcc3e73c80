"""A runtime that records sessions of an agent that ada manages."""

import pytest

from tests.support.callers import Caller, Callers
from tests.support.sessions.pricing import price_manager
from tests.support.sessions.recording import Recorder, register_agent


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    """The manager of the recorder's agent."""
    return await callers.user("ada")


@pytest.fixture
async def root(callers: Callers) -> Caller:
    """A superuser, who has added the provider of the models."""
    return await price_manager(callers)


@pytest.fixture
async def recorder(callers: Callers, ada: Caller) -> Recorder:
    runtime = await callers.user("runtime", "runtime")
    return Recorder(runtime, await register_agent(ada))


@pytest.fixture
async def readers(callers: Callers, ada: Caller) -> dict[str, Caller]:
    """Who may read what; the user is the one whose sessions they are."""
    return {
        "manager": ada,
        "user": await callers.user("bob"),
        "stranger": await callers.user("eve"),
        "superuser": await callers.user("olaf", "superuser"),
        "auditor": await callers.user("auditor", "auditor"),
    }
