"""A runtime that records sessions of an agent that ada manages."""

import pytest

from tests.support.callers import Caller, Callers
from tests.support.sessions.recording import Recorder, register_agent


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    """The manager of the recorder's agent."""
    return await callers.user("ada")


@pytest.fixture
async def recorder(callers: Callers, ada: Caller) -> Recorder:
    runtime = await callers.user("runtime", "runtime")
    return Recorder(runtime, await register_agent(ada))
