"""What is on record of the end of a call: how much of it came, and who ended it."""

import asyncio
from hashlib import sha256

import pytest
from aiohttp.test_utils import TestClient

from service.resources import Resources
from tests.integration.model_gateway.dialects import (
    CHAT,
    MESSAGES,
    USAGE_CHUNK,
    Spoken,
)
from tests.integration.model_gateway.faults import (
    CUT,
    UNANSWERED,
    error_event,
    first_two,
    half_of_the_third,
    read_to_its_end,
)
from tests.integration.model_gateway.provider import answer, provider, stream
from tests.integration.model_gateway.recorded import asked, call_of, events_of
from tests.integration.model_gateway.stage import MODEL, Stage
from tests.integration.model_gateway.test_faults import SECONDS, Deadline, deadline
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.integration.model_gateway.test_late_revocations import Connecting
from tests.support.callers import Caller
from tests.support.sessions.pricing import set_price
from tests.support.waiting import TIMEOUT_S, until

__all__ = ["deadline"]

ANSWERED = [("answered", 200)]
GIVEN_UP = [("given_up", None)]


@pytest.fixture(autouse=True)
async def price(root: Caller) -> None:
    """Of what is asked for, and of what an answer names."""
    for model in (MODEL, "swift-1-2026"):
        await set_price(root, model, 2, output=10)


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


async def digests_of(resources: Resources) -> dict[str, str] | None:
    (finished,) = await events_of(resources, "finished")
    found: dict[str, str] | None = finished.event.digests
    return found


def assert_beginning(spoken: Spoken, call: dict[str, object]) -> None:
    """Check what is known of a stream of which two events have come."""
    usage = call["usage"]
    assert isinstance(usage, dict)
    is_known = spoken is MESSAGES
    assert usage["prompt_tokens"] == (9 if is_known else None)
    assert usage["completion_tokens"] is None
    assert (usage["cost"], usage["unpriced"]) == (None, "count_missing")
    # Of a chat, only the last events are read.
    assert usage["model"] == (MODEL if spoken is CHAT else "swift-1-2026")


@each_dialect
@pytest.mark.parametrize("fault", CUT)
async def test_a_cut_stream_is_recorded_with_what_came_and_what_went_on(
    stage: Stage, resources: Resources, spoken: Spoken, fault: str
) -> None:
    given, goes_on = CUT[fault], asyncio.Event()
    passed = b"".join(first_two(spoken))
    came = passed
    if "within" in fault:
        came += half_of_the_third(spoken)[: 20 if fault.endswith("a chunk") else None]
    if "comment" in fault:
        came += b": still there\n\n"
    async with given.provider(spoken, goes_on) as made:
        await stage.routes_to(made.url, **given.terms)
        reply = await stage.call(spoken, stream=True)
        received = await reply.content.readexactly(len(passed))
        goes_on.set()
        received += (await read_to_its_end(reply))[0]

        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("cut", 200)
    assert asked(call) == ANSWERED
    assert call["answer_bytes"] == len(came)
    assert_beginning(spoken, call)
    assert await digests_of(resources) == {
        "received": digest(came),
        "sent": digest(received),
    }


@each_dialect
@pytest.mark.parametrize("asks_for_usage", [True, False])
async def test_a_whole_stream_is_recorded_with_both_digests(
    stage: Stage, resources: Resources, spoken: Spoken, *, asks_for_usage: bool
) -> None:
    came = b"".join(spoken.events)
    options = {"stream_options": {"include_usage": True}} if asks_for_usage else {}
    body = spoken.request(stream=True, **options)
    async with provider(stream(spoken.events)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(spoken, body)

        received = await reply.read()
        call = await call_of(stage)
    is_withheld = spoken is CHAT and not asks_for_usage
    assert received == (came.replace(USAGE_CHUNK, b"") if is_withheld else came)
    assert (call["outcome"], call["usage"]["cost"]) == ("ok", 0.000038)
    assert (call["request_bytes"], call["answer_bytes"]) == (len(body), len(came))
    assert await digests_of(resources) == {
        "received": digest(came),
        "sent": digest(received),
    }


@each_dialect
async def test_an_error_within_a_stream_is_the_providers(
    stage: Stage, resources: Resources, spoken: Spoken
) -> None:
    sent = b"".join(first_two(spoken)) + error_event(spoken)
    async with provider(stream([*first_two(spoken), error_event(spoken)])) as made:
        await stage.routes_to(made.url)
        reply = await stage.call(spoken, stream=True)
        await reply.read()

        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("provider_error", 200)
    assert asked(call) in (ANSWERED, [("stream_error", 200)])
    assert await digests_of(resources) == dict.fromkeys(
        ("received", "sent"), digest(sent)
    )


@each_dialect
async def test_a_client_that_leaves_a_stream_has_cancelled_its_call(
    stage: Stage, spoken: Spoken
) -> None:
    passed = b"".join(first_two(spoken))
    async with provider(stream(first_two(spoken), b"")) as made:
        await stage.routes_to(made.url)
        reply = await stage.call(spoken, stream=True)
        assert await reply.content.readexactly(len(passed)) == passed

        reply.close()

        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("cancelled", 200)
    assert asked(call) == ANSWERED
    assert call["answer_bytes"] == len(passed)
    assert_beginning(spoken, call)


@each_dialect
async def test_a_client_that_leaves_after_the_last_event_has_its_answer(
    stage: Stage, spoken: Spoken
) -> None:
    whole = b"".join(spoken.events)
    async with provider(stream(spoken.events, b"")) as made:
        await stage.routes_to(made.url)
        options = {"include_usage": True}
        reply = await stage.call(spoken, stream=True, stream_options=options)
        assert await reply.content.readexactly(len(whole)) == whole

        reply.close()

        call = await call_of(stage)
    assert (call["outcome"], call["usage"]["cost"]) == ("ok", 0.000038)


async def test_a_client_that_leaves_before_an_answer_may_have_cost_something(
    stage: Stage, resources: Resources
) -> None:
    async with UNANSWERED["silent"].provider(MESSAGES) as made:
        await stage.routes_to(made.url)
        leaving = asyncio.create_task(stage.call(MESSAGES))
        await until(lambda: made.received)

        leaving.cancel()

        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("cancelled", None)
    assert (asked(call), call["first_byte_ms"]) == (GIVEN_UP, None)
    assert call["usage"]["unpriced"] == "count_missing"
    assert await digests_of(resources) is None


async def test_a_client_that_leaves_while_its_call_connects_was_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting = Connecting(monkeypatch)
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(made.url)
        leaving = asyncio.create_task(stage.call(MESSAGES))
        await connecting.is_held.wait()

        leaving.cancel()

        call = await call_of(stage)
    assert (call["decision"], call["reason"]) == ("refused", "cancelled")
    assert made.received == []


@each_dialect
async def test_a_stream_that_takes_too_long_is_recorded_as_such(
    stage: Stage, resources: Resources, spoken: Spoken, deadline: Deadline
) -> None:
    passed = b"".join(first_two(spoken))
    async with provider(stream(first_two(spoken), b"")) as made:
        await stage.routes_to(made.url, **SECONDS)
        reply = await stage.call(spoken, stream=True)
        received = await reply.content.readexactly(len(passed))

        deadline.comes()

        received += (await read_to_its_end(reply))[0]
        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("timeout", 200)
    assert_beginning(spoken, call)
    assert await digests_of(resources) == {
        "received": digest(passed),
        "sent": digest(received),
    }


async def test_a_call_that_takes_too_long_before_its_answer_is_recorded_as_such(
    stage: Stage, deadline: Deadline
) -> None:
    async with UNANSWERED["silent"].provider(MESSAGES) as made:
        await stage.routes_to(made.url, total_timeout_s=1)
        calling = asyncio.create_task(stage.call(MESSAGES))
        await until(lambda: made.received)

        deadline.comes()

        assert (await calling).status == 503
        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("timeout", None)
    assert asked(call) == GIVEN_UP
    assert call["usage"]["unpriced"] == "count_missing"


@each_dialect
@pytest.mark.parametrize("has_begun", [True, False])
async def test_a_call_that_runs_when_the_service_stops_is_recorded_as_stopped(
    stage: Stage,
    client: TestClient,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
    spoken: Spoken,
    *,
    has_begun: bool,
) -> None:
    sent = stream(first_two(spoken), b"") if has_begun else b""
    async with provider(sent) as made:
        await stage.routes_to(made.url)
        calling = asyncio.create_task(stage.call(spoken, stream=True))
        await until(lambda: made.received)
        if has_begun:
            reply = await asyncio.wait_for(calling, TIMEOUT_S)
            await reply.content.readany()

        monkeypatch.setattr(client.server.runner, "_shutdown_timeout", 0.1)
        await client.server.close()

        calling.cancel()
    (finished,) = await events_of(resources, "finished")
    assert finished.event.how["outcome"] == "stopped"
    usage = finished.event.how["usage"]
    assert (usage["cost"], usage["unpriced"]) == (None, "count_missing")
