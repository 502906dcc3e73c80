"""An owner of connections and presets, and ada, who manages an agent."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from aiohttp.test_utils import TestClient

from service.config import Config
from service.resources import Resources
from tests.integration.model_gateway.stage import KEY, Stage
from tests.support.callers import Caller, Callers
from tests.support.configured import configured
from tests.support.model_gateway.asking import (
    granted,
    new_connection,
    new_preset,
)
from tests.support.rebuilding import tables
from tests.support.sessions.pricing import price_manager


class Runtime:
    """Records turns of an agent that have called models just now."""

    def __init__(self, caller: Caller, agent: UUID, resources: Resources) -> None:
        self._caller = caller
        self._agent = agent
        self._resources = resources

    async def calls(self, *models: str, days_ago: int = 0) -> None:
        """Record a turn for each name."""
        start = datetime.now(UTC) - timedelta(days=days_ago)
        session = f"s{uuid4()}"
        at = start.isoformat().replace("+00:00", "Z")
        body = {
            "agent_id": str(self._agent),
            "session_id": session,
            "started_at": at,
        }
        base = "/api/observability/session"
        assert (await self._caller.post(base, body)).status == 201
        for number, model in enumerate(models):
            turn = {
                "turn_id": f"t{number}",
                "started_at": at,
                "ended_at": at,
                "provider": "acme",
                "model": model,
                "prompt_tokens": 1,
                "completion_tokens": 1,
            }
            reply = await self._caller.post(f"{base}/{session}/turns", turn)
            assert reply.status == 201, reply.data
        await tables(self._resources, "usage")


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


@pytest.fixture
async def runtime(callers: Callers, agent: UUID, resources: Resources) -> Runtime:
    return Runtime(await callers.user("runtime", "runtime"), agent, resources)


@pytest.fixture
def config() -> Config:
    return configured(model_gateway_networks="127.0.0.0/8")


@pytest.fixture
async def stage(owner: Caller, ada: Caller, agent: UUID, client: TestClient) -> Stage:
    """An agent that can call nothing yet."""
    secret = await owner.post("/api/secrets", {"name": "provider", "value": KEY})
    assert secret.status == 201
    token = await ada.post(f"/api/mcp/agents/{agent}/tokens", {"label": "test"})
    return Stage(
        client=client, owner=owner, ada=ada, agent=agent, token=token.data["token"]
    )
