"""What is on record of the targets of a call: what came of each, and what it cost."""

from typing import Any

import pytest

from service.resources import Resources
from tests.integration.model_gateway.dialects import MESSAGES, Spoken
from tests.integration.model_gateway.faults import (
    REFUSED,
    UNANSWERED,
    error_event,
    error_of,
    read_to_its_end,
)
from tests.integration.model_gateway.provider import answer, provider, stream
from tests.integration.model_gateway.recorded import asked, call_of, calls_of, events_of
from tests.integration.model_gateway.stage import KEY, MODEL, Stage
from tests.integration.model_gateway.test_fallback import hurried_once, second
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.callers import Caller
from tests.support.model_gateway.asking import PRESETS
from tests.support.sessions.pricing import set_price

__all__ = ["hurried_once"]

# What came of a target with each fault.
UNANSWERED_AS = {
    "refused": "unreachable",
    "closed before the head": "cut",
    "closed in the head": "cut",
    "closed after the head": "cut",
    "closed after a head without a length": "cut",
    "ended after the head": "cut",
    "too large a head": "not_http",
    "not HTTP": "not_http",
    "silent": "late",
    "silent after the head": "late",
    "redirect": "redirected",
    "no stream, cut": "cut",
    "no stream, cut without a length": "cut",
    "no stream, stalled": "silent",
}
REFUSED_AS = {
    "429": ("status", 429),
    "500": ("status", 500),
    "529": ("status", 529),
    "402": ("out_of_credit", 402),
    "400 out of credit": ("out_of_credit", 400),
    "500 that says to be a stream": ("status", 500),
}
# Nothing was sent to the first one, and the second one sends no answer.
FREE = ("unreachable", "redirected")
ANSWERED = ("answered", 200)


@pytest.fixture
async def price(root: Caller) -> None:
    """Of what is asked for, and of what an answer names."""
    for model in (MODEL, "swift-1-2026"):
        await set_price(root, model, 2, output=10)


async def targets_of(stage: Stage, preset: str) -> list[str]:
    """Return the connections of a preset."""
    groups = (await stage.owner.get(f"{PRESETS}/{preset}")).data["groups"]
    return [each["connection_id"] for group in groups for each in group["targets"]]


def assert_unknown_cost(usage: dict[str, Any]) -> None:
    assert (usage["cost"], usage["currency"]) == (None, None)
    assert usage["unpriced"] == "count_missing"
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (None, None)


def test_each_fault_is_recorded_as_something() -> None:
    assert UNANSWERED_AS.keys() == UNANSWERED.keys()
    assert REFUSED_AS.keys() == REFUSED.keys()


@pytest.mark.parametrize("fault", [each for each in UNANSWERED if each != "refused"])
@pytest.mark.usefixtures("price")
async def test_without_an_answer_the_cost_of_what_was_sent_is_unknown(
    stage: Stage, resources: Resources, fault: str
) -> None:
    given = UNANSWERED[fault]
    async with given.provider(MESSAGES) as made:
        preset = await stage.routes_to(made.url, **given.terms)

        reply = await stage.call(MESSAGES, stream=given.streams)

        assert reply.status == 503
        call = await call_of(stage)
        (connection,) = await targets_of(stage, preset)
    assert (call["decision"], call["outcome"]) == ("admitted", "no_answer")
    assert (call["status"], call["first_byte_ms"]) == (None, None)
    assert call["answer_bytes"] == 0
    assert asked(call) == [(UNANSWERED_AS[fault], None)]
    (attempt,) = call["attempts"]
    assert (attempt["connection_id"], attempt["model"]) == (connection, MODEL)
    if UNANSWERED_AS[fault] in FREE:
        assert call["usage"] is None
    else:
        assert_unknown_cost(call["usage"])
    (finished,) = await events_of(resources, "finished")
    assert finished.event.digests is None


async def test_a_call_that_reaches_no_target_was_not_admitted(
    stage: Stage, resources: Resources
) -> None:
    async with UNANSWERED["refused"].provider(MESSAGES) as made:
        await stage.routes_to(made.url)

        assert (await stage.call(MESSAGES)).status == 503

        call = await call_of(stage)
    assert (call["decision"], call["reason"]) == ("refused", "no_answer")
    assert (call["outcome"], call["usage"], call["attempts"]) == (None, None, [])
    assert [each.topic for each in await events_of(resources)] == ["model_call.refused"]


@pytest.mark.parametrize("fault", UNANSWERED)
@pytest.mark.usefixtures("price", "hurried_once")
async def test_the_cost_is_an_estimate_if_a_first_target_may_have_charged_something(
    stage: Stage, fault: str
) -> None:
    given = UNANSWERED[fault]
    async with given.provider(MESSAGES) as first, second(MESSAGES) as other:
        preset = await stage.routes_to(first.url, other.url, **given.terms)

        assert (await stage.call(MESSAGES, stream=given.streams)).status == 200

        call = await call_of(stage)
        connections = await targets_of(stage, preset)
    assert (call["outcome"], call["status"]) == ("ok", 200)
    assert asked(call) == [(UNANSWERED_AS[fault], None), ANSWERED]
    assert [each["connection_id"] for each in call["attempts"]] == connections
    assert call["connection_id"] == connections[1]
    usage = call["usage"]
    assert usage["cost"] == 0.000038
    is_certain = UNANSWERED_AS[fault] in FREE
    assert usage["estimated"] == ([] if is_certain else ["attempts"])


@each_dialect
@pytest.mark.parametrize("fault", REFUSED)
@pytest.mark.usefixtures("price")
async def test_what_a_first_target_refuses_costs_nothing(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    async with provider(REFUSED[fault](spoken)) as first, second(spoken) as other:
        await stage.routes_to(first.url, other.url)

        assert (await stage.call(spoken)).status == 200

        call = await call_of(stage)
    assert call["outcome"] == "ok"
    assert asked(call) == [REFUSED_AS[fault], ANSWERED]
    assert (call["usage"]["cost"], call["usage"]["estimated"]) == (0.000038, [])


@each_dialect
@pytest.mark.parametrize("fault", [*REFUSED, "400", "401"])
@pytest.mark.usefixtures("price")
async def test_an_error_of_the_only_target_is_recorded_without_a_cost(
    stage: Stage, spoken: Spoken, fault: str
) -> None:
    error = answer(error_of(spoken, "invalid_request_error", "no"), f"{fault} No")
    sent = REFUSED[fault](spoken) if fault in REFUSED else error
    outcome, status = REFUSED_AS.get(fault, ("answered", int(fault[:3])))
    async with provider(sent) as made:
        await stage.routes_to(made.url)

        assert (await stage.call(spoken)).status == status

        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("provider_error", status)
    assert asked(call) == [(outcome, status)]
    assert call["usage"] is None


@each_dialect
@pytest.mark.parametrize("has_other", [True, False])
@pytest.mark.usefixtures("price")
async def test_a_stream_that_begins_with_an_error_costs_nothing(
    stage: Stage, spoken: Spoken, *, has_other: bool
) -> None:
    async with (
        provider(stream([error_event(spoken)])) as first,
        second(spoken) as other,
    ):
        await stage.routes_to(first.url, *([other.url] if has_other else []))

        reply = await stage.call(spoken, stream=True)

        await read_to_its_end(reply)
        call = await call_of(stage)
    begun = ("stream_error", 200)
    if has_other:
        assert (call["outcome"], asked(call)) == ("ok", [begun, ANSWERED])
        assert (call["usage"]["cost"], call["usage"]["estimated"]) == (0.000038, [])
    else:
        assert (call["outcome"], asked(call)) == ("provider_error", [begun])
        assert call["usage"] is None


@pytest.mark.usefixtures("price")
async def test_the_last_error_is_recorded_where_all_targets_fail(stage: Stage) -> None:
    async with (
        provider(REFUSED["500"](MESSAGES)) as first,
        provider(b"") as cut,
        provider(REFUSED["529"](MESSAGES)) as last,
    ):
        cut.closes = True
        await stage.routes_to(first.url, cut.url, last.url, attempts=3)

        assert (await stage.call(MESSAGES)).status == 529

        call = await call_of(stage)
    assert (call["outcome"], call["status"]) == ("provider_error", 529)
    assert asked(call) == [("status", 500), ("cut", None), ("status", 529)]
    # Nobody knows what the second one has charged.
    assert_unknown_cost(call["usage"])


@pytest.mark.usefixtures("price")
async def test_an_answer_that_repeats_the_credential_may_have_cost_something(
    stage: Stage,
) -> None:
    repeating = answer({**MESSAGES.whole, "key": KEY})
    async with provider(repeating) as first, second(MESSAGES) as other:
        await stage.routes_to(first.url, other.url)

        assert (await stage.call(MESSAGES)).status == 200

        call = await call_of(stage)
    assert asked(call) == [("credential_repeated", None), ANSWERED]
    assert call["usage"]["estimated"] == ["attempts"]


async def test_a_target_that_is_left_alone_is_recorded_as_suspended(
    stage: Stage,
) -> None:
    async with provider(REFUSED["402"](MESSAGES)) as first, second(MESSAGES) as other:
        preset = await stage.routes_to(first.url, other.url, sticky_s=0)
        for _ in range(2):
            assert (await stage.call(MESSAGES)).status == 200

        call, _ = await calls_of(stage, 2)
        connections = await targets_of(stage, preset)
    assert asked(call) == [("suspended", None), ANSWERED]
    assert [each["connection_id"] for each in call["attempts"]] == connections
    assert call["usage"]["estimated"] == []
    assert len(first.received) == 1
