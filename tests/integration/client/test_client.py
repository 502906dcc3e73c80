"""The client against the service: data, headers, errors, read-your-writes."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import AgentRuntime, AsyncAgentRuntime, Secret
from agent_runtime_client.errors import (
    ConflictError,
    ForbiddenError,
    IdempotencyKeyReusedError,
    InvalidRequestError,
    LogEpochChangedError,
    NotFoundError,
    PreconditionFailedError,
    UnauthenticatedError,
)
from agent_runtime_client.models import ToolRule
from tests.integration.client.conftest import url_of
from tests.support.callers import Callers

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


async def test_data_has_its_types(runtime: AsyncAgentRuntime) -> None:
    agent = await runtime.agents.create("support", description="Answers mail.")

    assert isinstance(agent.id, UUID)
    assert agent.created_at.tzinfo is not None
    assert agent.response.status == 201
    assert agent.response.etag == '"1"'
    assert agent.response.position == runtime.position > 0
    assert await runtime.agents.get(agent.id) == agent


async def test_both_clients_have_the_same_operations(
    blocking: Callable[[Any], "asyncio.Future[Any]"],
) -> None:
    def work(runtime: AgentRuntime) -> tuple[str, list[str], str]:
        agent = runtime.agents.create("support")
        connector = runtime.connectors.create("crm", "https://crm.example")
        runtime.connectors.grant(connector.id, agent.id)
        replaced = runtime.tool_rules.replace(
            agent.id,
            [ToolRule(connector_id=connector.id, tool_pattern="get_*", stance="allow")],
        )
        # What was read can be sent.
        again = runtime.tool_rules.replace(
            agent.id,
            runtime.tool_rules.get(agent.id).rules,
            if_match=replaced.version,
        )
        assert again.unchanged == 1
        names = [each.name for each in runtime.agents.list()]
        explained = runtime.tool_rules.explain(agent.id, connector.id, "get_x")
        return explained.stance, names, replaced.rules[0].tool_pattern

    assert await blocking(work) == ("allow", ["support"], "get_*")


async def test_reads_reflect_the_last_write(runtime: AsyncAgentRuntime) -> None:
    for number in range(20):
        await runtime.agents.create(f"agent-{number}")
        assert len(await runtime.agents.list().to_list()) == number + 1


async def test_another_client_reads_at_a_position(
    runtime: AsyncAgentRuntime, client: TestClient, callers: Callers
) -> None:
    auditor = await callers.user("otto", "auditor")
    async with AsyncAgentRuntime(url_of(client), auditor.token) as other:
        for number in range(5):
            await runtime.agents.create(f"agent-{number}")
            async with other.at_least(runtime.position) as reader:
                assert len(await reader.agents.list().to_list()) == number + 1


async def test_errors_have_what_the_service_says(runtime: AsyncAgentRuntime) -> None:
    with pytest.raises(NotFoundError) as missing:
        await runtime.agents.get(uuid4())
    assert (missing.value.status, missing.value.code) == (404, "not_found")
    assert missing.value.request_id

    with pytest.raises(InvalidRequestError) as invalid:
        await runtime.agents.create("")
    assert invalid.value.problems[0].path == "name"
    assert str(invalid.value.idempotency_key) in str(invalid.value)

    secret = await runtime.secrets.create("KEY", "one")
    with pytest.raises(PreconditionFailedError) as stale:
        await runtime.secrets.set("KEY", "two", if_match=secret.version + 7)
    assert stale.value.etag == secret.response.etag

    with pytest.raises(ConflictError) as conflict:
        await runtime.secrets.create("KEY", "one")
    assert conflict.value.code == "secret_exists"


async def test_callers_without_rights(client: TestClient, callers: Callers) -> None:
    nobody = await callers.user("nobody")
    async with AsyncAgentRuntime(url_of(client), nobody.token) as runtime:
        with pytest.raises(ForbiddenError):
            await runtime.users.create("other")
    async with AsyncAgentRuntime(url_of(client)) as runtime:
        with pytest.raises(UnauthenticatedError):
            await runtime.users.me()


async def test_a_key_names_one_request(runtime: AsyncAgentRuntime) -> None:
    first = await runtime.agents.create("support", idempotency_key="monday")
    again = await runtime.agents.create("support", idempotency_key="monday")

    assert again == first
    assert (first.response.was_replayed, again.response.was_replayed) == (False, True)
    with pytest.raises(IdempotencyKeyReusedError) as reused:
        await runtime.agents.create("other", idempotency_key="monday")
    assert reused.value.idempotency_key == "monday"


async def test_secrets_are_not_shown(runtime: AsyncAgentRuntime) -> None:
    await runtime.secrets.create("KEY", Secret("hunter2"))
    revealed = await runtime.secrets.reveal("KEY")
    issued = await runtime.users.issue_token((await runtime.users.me()).id, "test")

    assert revealed.value.reveal() == "hunter2"
    assert "hunter2" not in f"{revealed} {revealed!r} {revealed.value}"
    assert issued.token.reveal().startswith("art_")
    assert "art_" not in f"{issued!r} {runtime!r}"
    agent = await runtime.agents.create("support")
    of_agent = await runtime.agents.issue_token(agent.id, "build server")
    assert "agt_" not in f"{of_agent} {of_agent!r}"
    assert of_agent.token.reveal().startswith("agt_")


async def test_not_given_null_and_a_value_differ(runtime: AsyncAgentRuntime) -> None:
    await runtime.prices.add_provider("acme", "Acme")
    price = await runtime.prices.set(
        "acme",
        "m-1",
        input_price_per_1m=Decimal("0.100000001"),
        output_price_per_1m=None,
        effective_from=START,
    )

    assert price.price is not None
    assert price.price.input_price_per_1m == Decimal("0.100000001")
    assert price.price.output_price_per_1m is None
    # Not given: the service's default.
    assert price.price.currency == "USD"
    [provider] = await runtime.prices.get_providers()
    assert provider.models[0].input_price_per_1m == Decimal("0.100000001")


async def test_a_time_without_a_zone_is_refused(runtime: AsyncAgentRuntime) -> None:
    agent = await runtime.agents.create("support")
    with pytest.raises(ValueError, match="zone"):
        await runtime.sessions.start(agent.id, started_at=datetime(2026, 1, 1))  # noqa: DTZ001 # the mistake


async def test_a_restored_log_is_an_error_of_its_own(
    runtime: AsyncAgentRuntime,
) -> None:
    agent = await runtime.agents.create("support")
    # Given a client that knows the log from before a restore.
    epoch = runtime.epoch
    runtime._caller.memory.forget(str(uuid4()))

    with pytest.raises(LogEpochChangedError):
        await runtime.agents.get(agent.id)
    assert (runtime.epoch, runtime.position) == (epoch, 0)
    later = runtime.at_least(agent.response.position or 0)
    assert await later.agents.get(agent.id) == agent
