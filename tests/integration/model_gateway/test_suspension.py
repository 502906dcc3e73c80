"""When a target that can't answer is left alone, and how it is tried again."""

import asyncio
from functools import partial

import orjson
import pytest

from service.circuit_breaker import FAILURES_MAX, REST_MAX_S, REST_S, CircuitBreaker
from service.errors import UnavailableError
from service.keys.vault import Vault
from service.model_gateway.calls import suspensions
from tests.integration.model_gateway.dialects import CHAT, Spoken
from tests.integration.model_gateway.faults import (
    REFUSED,
    error_event,
    first_two,
    read_to_its_end,
)
from tests.integration.model_gateway.provider import answer, provider, stream
from tests.integration.model_gateway.stage import Stage
from tests.integration.model_gateway.test_faults import error_in
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.clock import Clock
from tests.support.waiting import TIMEOUT_S, until


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What suspensions take for the time."""
    clock = Clock()
    monkeypatch.setattr(suspensions, "CircuitBreaker", partial(CircuitBreaker, clock))
    return clock


# By fault: how often it happens until the target is left alone, and for how long.
SUSPENDED = {
    "500": (FAILURES_MAX, REST_S),
    "529": (FAILURES_MAX, REST_S),
    "429": (1, 7.0),
    "402": (1, REST_MAX_S),
    "400 out of credit": (1, REST_MAX_S),
}


@each_dialect
@pytest.mark.parametrize("fault", SUSPENDED)
async def test_a_target_is_left_alone_and_tried_again(
    stage: Stage, spoken: Spoken, clock: Clock, fault: str
) -> None:
    times, rest_s = SUSPENDED[fault]
    whole = answer(spoken.whole)
    refusals = [REFUSED[fault](spoken)] * times
    async with provider(*refusals, whole) as first, provider(whole) as other:
        await stage.routes_to(first.url, other.url, sticky_s=0)
        for _ in range(times):
            assert (await stage.call(spoken)).status == 200
        assert (len(first.received), len(other.received)) == (times, times)

        clock.now += rest_s - 0.1
        assert (await stage.call(spoken)).status == 200
        assert (len(first.received), len(other.received)) == (times, times + 1)

        clock.now += 0.1
        for _ in range(2):
            assert (await stage.call(spoken)).status == 200
    assert (len(first.received), len(other.received)) == (times + 2, times + 1)


@each_dialect
async def test_with_all_targets_left_alone_the_client_is_told_when_to_call_again(
    stage: Stage, spoken: Spoken, clock: Clock
) -> None:
    async with (
        provider(REFUSED["402"](spoken)) as first,
        provider(REFUSED["429"](spoken)) as other,
    ):
        await stage.routes_to(first.url, other.url)
        assert (await stage.call(spoken)).status == 429
        clock.now += 2.5

        reply = await stage.call(spoken)

        kind, code, message = error_in(spoken, orjson.loads(await reply.read()))
    assert (reply.status, reply.headers["Retry-After"]) == (503, "5")
    assert message.endswith("is left alone; call again in 5 s")
    if spoken.path.startswith("/anthropic"):
        assert (kind, code) == ("overloaded_error", None)
    else:
        assert (kind, code) == ("server_error", "targets_suspended")
    assert "x-should-retry" not in reply.headers
    assert (len(first.received), len(other.received)) == (1, 1)


async def test_one_call_at_a_time_tries_a_target(stage: Stage, clock: Clock) -> None:
    answered = asyncio.Event()

    async def when_told(writer: asyncio.StreamWriter) -> None:
        await asyncio.wait_for(answered.wait(), TIMEOUT_S)
        writer.write(answer(CHAT.whole))

    async with provider(REFUSED["429"](CHAT), when_told) as made:
        await stage.routes_to(made.url)
        assert (await stage.call(CHAT)).status == 429
        clock.now += 7
        trial = asyncio.create_task(stage.call(CHAT))
        await until(lambda: len(made.received) == 2)

        others = [(await stage.call(CHAT)).status for _ in range(2)]

        assert others == [503, 503]
        assert len(made.received) == 2
        answered.set()
        assert (await trial).status == 200
        assert (await stage.call(CHAT)).status == 200


async def test_a_trial_in_vain_leaves_the_target_alone_for_longer(
    stage: Stage, clock: Clock
) -> None:
    async with provider(REFUSED["500"](CHAT)) as made:
        await stage.routes_to(made.url)
        for _ in range(FAILURES_MAX):
            assert (await stage.call(CHAT)).status == 500
        clock.now += REST_S
        assert (await stage.call(CHAT)).status == 500

        reply = await stage.call(CHAT)

        assert (reply.status, reply.headers["Retry-After"]) == (503, "10")
    assert len(made.received) == FAILURES_MAX + 1


async def test_a_client_that_leaves_a_trial_leaves_the_next_one_to_another(
    stage: Stage, clock: Clock
) -> None:
    async with provider(REFUSED["429"](CHAT), b"", answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        assert (await stage.call(CHAT)).status == 429
        clock.now += 7
        trial = asyncio.create_task(stage.call(CHAT))
        await until(lambda: len(made.received) == 2)
        trial.cancel()
        await until(lambda: made.open == 0)

        assert (await stage.call(CHAT)).status == 200


@each_dialect
@pytest.mark.parametrize("has_error", [True, False])
async def test_streams_that_fail_leave_the_target_alone(
    stage: Stage, spoken: Spoken, clock: Clock, *, has_error: bool
) -> None:
    end = [error_event(spoken)] if has_error else []
    async with provider(stream([*first_two(spoken), *end])) as made:
        await stage.routes_to(made.url)
        for _ in range(FAILURES_MAX):
            reply = await stage.call(spoken, stream=True)
            assert reply.status == 200
            await read_to_its_end(reply)

        assert (await stage.call(spoken, stream=True)).status == 503
    assert len(made.received) == FAILURES_MAX


async def test_trouble_of_the_service_does_not_leave_the_target_alone(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def opens(*_: object) -> str:
        raise UnavailableError("the database is busy", code="database_busy")

    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        with monkeypatch.context() as patched:
            patched.setattr(Vault, "open_secret", opens)
            for _ in range(FAILURES_MAX + 1):
                reply = await stage.call(CHAT)
                assert (await reply.json())["error"]["code"] == "database_busy"

        assert (await stage.call(CHAT)).status == 200
    assert len(made.received) == 1
