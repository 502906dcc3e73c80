"""What a model call used isn't clear: its cost is unknown, or an estimate, and why."""

from typing import Any

from tests.integration.sessions.test_repricing import correct, reprice, shown
from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import llm, report, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder


async def test_a_total_that_contradicts_its_parts_is_the_reason_for_no_cost(
    root: Caller, ada: Caller, recorder: Recorder
) -> None:
    # given
    priced = await set_price(root, "swift", 1, output=1)
    root_span = span(1, session__id="chat-1", took=9)
    call = llm(2, 1, 4_299, 631, llm__token_count__total=58_291)

    # when
    exported = await report(recorder, root_span, call)

    # then
    (turn,) = await turns(ada, exported)
    assert (turn["cost"], turn["unpriced"]) == (None, "counts_contradict")
    assert turn["token_usage"]["prompt"] == 4_299

    # when it is priced again
    await correct(root, priced, 2)
    again = await reprice(root, exported, dry_run=False)

    # then
    assert again.data["turns_changed"] == 0
    assert (await turns(ada, exported))[0]["unpriced"] == "counts_contradict"


async def test_a_usage_by_names_that_nobody_reads_is_the_reason_for_no_cost(
    ada: Caller, recorder: Recorder
) -> None:
    used: Any = {"acme__input_tokens": 10, "acme__output_tokens": 2}

    exported = await report(
        recorder, span(1, session__id="chat-1", took=9), span(2, 1, **used)
    )

    (turn,) = await turns(ada, exported)
    assert (turn["cost"], turn["unpriced"]) == (None, "count_missing")


async def test_a_sum_by_names_that_nobody_reads_hides_no_call_that_is_read(
    root: Caller, ada: Caller, recorder: Recorder
) -> None:
    await set_price(root, "swift", 1, output=1)
    used: Any = {"acme__input_tokens": 10, "acme__output_tokens": 2}

    exported = await report(
        recorder,
        span(1, session__id="chat-1", took=9, **used),
        llm(2, 1, 10, 2),
    )

    (turn,) = await turns(ada, exported)
    assert (turn["cost"], turn["unpriced"]) == (0.000012, None)


async def test_a_count_that_nobody_reads_makes_the_cost_an_estimate(
    root: Caller, ada: Caller, recorder: Recorder
) -> None:
    # given a price of cached tokens
    reply = await root.post(
        "/api/llm-router/prices",
        {
            "provider": "acme",
            "model": "swift",
            "currency": "USD",
            "input_price_per_1m": 10,
            "output_price_per_1m": 10,
            "cache_read_price_per_1m": 1,
            "effective_from": "2026-01-01T00:00:00Z",
        },
    )
    assert reply.status == 201, reply.data

    # when
    exported = await report(
        recorder,
        span(1, session__id="chat-1", took=9),
        llm(2, 1, 10, 2, acme__tokens_from_cache=8),
    )

    # then
    (turn,) = await turns(ada, exported)
    assert turn["cost"] == 0.00012
    assert "cache_read_tokens" in turn["estimated"]


async def turns(reader: Caller, exported: Any) -> Any:
    return (await shown(reader, exported.position))["turns"]
