"""Calls while the database is away: their ends are on record once it is back."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient

from service.app import create_app
from service.circuit_breaker import FAILURES_MAX
from service.config import Config
from service.open_resources import open_resources
from service.waits import Waits
from tests.integration.model_gateway.dialects import CHAT
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.recorded import calls_of
from tests.integration.model_gateway.stage import Stage
from tests.support.http_server import Server
from tests.support.postgres_proxy import Fault, Proxy, proxy
from tests.support.waiting import until

__all__ = ["proxy"]

QUICK = Waits(commit_s=0.2, connection_s=0.2)
# Longer than a target may take that has a second for its first byte.
PATIENT = Waits(statement_s=2)


@pytest.fixture
def waits() -> Waits:
    return QUICK


@pytest.fixture
async def behind_proxy(
    stage: Stage,
    proxy: Proxy,
    database_url: str,
    config: Config,
    tmp_path: Path,
    waits: Waits,
) -> AsyncIterator[Stage]:
    """The agent's calls by a process whose commits can lose their replies."""
    url = proxy.url(database_url)
    async with (
        open_resources(url, tmp_path, waits=waits) as opened,
        TestClient(Server(create_app(opened, config))) as client,
    ):
        yield replace(stage, client=client)


@pytest.mark.parametrize("fault", [Fault.DROP_REPLY, Fault.CUT_BEFORE_REQUEST])
async def test_a_call_whose_admission_got_no_reply_has_one_end(
    stage: Stage, behind_proxy: Stage, proxy: Proxy, fault: Fault
) -> None:
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        proxy.fault = fault
        calling = asyncio.create_task(behind_proxy.call(CHAT))
        await proxy.struck.wait()
        proxy.go_away()
        reply = await calling
        proxy.come_back()

        (call,) = await calls_of(stage)

    assert (reply.status, made.received) == (503, [])
    assert (await reply.json())["error"]["code"] == "outcome_unknown"
    has_come = fault is Fault.DROP_REPLY
    assert call["decision"] == ("admitted" if has_come else "refused")
    assert (call["outcome"], call["reason"]) == (
        ("refused", None) if has_come else (None, "outcome_unknown")
    )


async def test_a_call_that_the_database_could_not_decide_is_refused(
    stage: Stage, behind_proxy: Stage, proxy: Proxy
) -> None:
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        # The process knows the token then, and not the routes.
        other = behind_proxy.path("/openai/v1/files")
        token = {"Authorization": f"Bearer {stage.token}"}
        assert (await behind_proxy.client.get(other, headers=token)).status == 404
        proxy.go_away()
        reply = await behind_proxy.call(CHAT)
        proxy.come_back()

        (call,) = await calls_of(stage)

    assert (reply.status, made.received) == (503, [])
    assert (await reply.json())["error"]["code"] == "unavailable"
    assert (call["decision"], call["reason"]) == ("refused", "unavailable")


@pytest.mark.parametrize("waits", [PATIENT])
async def test_a_target_is_not_to_blame_for_a_call_that_is_not_decided_in_time(
    stage: Stage, behind_proxy: Stage, proxy: Proxy
) -> None:
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url, first_byte_timeout_s=1)
        proxy.fault = Fault.STALL_REQUEST
        replies = await asyncio.gather(
            *(behind_proxy.call(CHAT) for _ in range(FAILURES_MAX))
        )
        proxy.late.set()
        calls = await calls_of(stage, FAILURES_MAX)
        after = await behind_proxy.call(CHAT)

    assert {each.status for each in replies} == {503}
    assert [each["attempts"] for each in calls] == [[]] * FAILURES_MAX
    assert [each["usage"] for each in calls] == [None] * FAILURES_MAX
    assert (after.status, len(made.received)) == (200, 1)


async def test_refusals_whose_record_got_no_reply_are_recorded_once(
    stage: Stage, behind_proxy: Stage, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    async def is_refused(model: str) -> bool:
        return (await behind_proxy.call(CHAT, model=model)).status == 404

    proxy.fault = Fault.DROP_REPLY
    assert await is_refused("first")
    await proxy.struck.wait()
    proxy.go_away()
    await until(lambda: "model calls were not recorded yet" in caplog.messages)
    proxy.come_back()
    await until(lambda: is_refused("second"))
    # Behind it, all that waited has been recorded.
    assert await is_refused("third")
    await calls_of(stage, query="&model=third")
    calls = await calls_of(stage, query="&model=first")

    assert [each["times"] for each in calls] == [1]
