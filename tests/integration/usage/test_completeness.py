"""What of a cost is exact, estimated and unknown, and which turns differ."""

from typing import Any

from service.resources import Resources
from tests.integration.sessions.test_contract_costs import set_contract
from tests.integration.sessions.test_repricing import correct, reprice
from tests.integration.usage.reading import usage
from tests.support.callers import Caller
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.otlp.spans import Exported, llm, pairs, report, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, at

MARCH = "from_day=2026-03-01&until_day=2026-03-31"
MILLION = 1_000_000
# A count that nobody reads, so that the cost is an estimate.
UNREAD: Any = {"acme__cache_hit_tokens": 5}
NONE: Any = {"turns": 0, "cost": None, "reported_cost": None}


async def send(recorder: Recorder, *calls: dict[str, Any]) -> Exported:
    """Send turns of one model call each, of a million input tokens."""
    spans = []
    for number, words in enumerate(calls, 1):
        root = 2 * number - 1
        spans.append(span(root, trace=number, session__id="chat-1"))
        spans.append(llm(root + 1, root, MILLION, 0, trace=number, **words))
    return await report(recorder, *spans)


async def price_with_caches(root: Caller, model: str, currency: str) -> None:
    """Set a price of 1 for a million input tokens, and less for cached ones."""
    body = {
        "provider": "acme",
        "model": model,
        "currency": currency,
        "input_price_per_1m": 1,
        "output_price_per_1m": 1,
        "cache_read_price_per_1m": 0.1,
        "effective_from": "2026-01-01T00:00:00Z",
    }
    reply = await root.post("/api/llm-router/prices", body)
    assert reply.status == 201, reply.data


def reported(amount: float) -> dict[str, Any]:
    return {"llm__cost__total": amount}


def named(model: str) -> dict[str, Any]:
    return {"llm__model_name": model}


def part(row: Any, name: str) -> Any:
    found = row["completeness"][name]
    return found["turns"], found["share_of_turns"], found.get("share_of_cost")


async def test_the_parts_of_a_cost_by_agent_and_day(
    recorder: Recorder, root: Caller, ada: Caller, resources: Resources
) -> None:
    # given: two exact turns, an estimate, and a model without a price
    await price_with_caches(root, "swift", "USD")
    sent = await send(recorder, {}, {}, UNREAD, named("unheard of"))

    # when
    [row] = (await usage(sent, ada, f"{MARCH}&group_by=day,agent"))["usage"]

    # then
    assert part(row, "exact") == (2, 0.5, 2 / 3)
    assert part(row, "estimated") == (1, 0.25, 1 / 3)
    assert part(row, "unknown") == (1, 0.25, None)
    shown = row["completeness"]
    assert shown["exact"]["costs"] == [{"currency": "USD", "cost": 2}]
    assert shown["estimated"]["costs"] == [{"currency": "USD", "cost": 1}]
    assert row["cost_unknown_because"] == ["no_such_model"]
    await expect_rebuild_equals_live(resources, "usage")


async def test_an_estimate_that_has_no_cost_is_unknown(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    # given: the list's cost would be an estimate, but the contract lacks a rate
    await price_with_caches(root, "swift", "USD")
    contract: Any = {"output_price_per_1m": 1, "currency": "EUR"}
    await set_contract(root, at(-60), model="swift", **contract)
    sent = await send(recorder, UNREAD)

    # when
    [row] = (await usage(sent, ada, MARCH))["usage"]

    # then
    assert part(row, "exact") == part(row, "estimated") == (0, 0, None)
    assert part(row, "unknown") == (1, 1, None)


async def test_a_day_without_model_calls_has_no_shares(
    recorder: Recorder, ada: Caller
) -> None:
    sent = await report(recorder, span(1, session__id="chat-1"))

    [row] = (await usage(sent, ada, MARCH))["usage"]

    assert part(row, "exact") == part(row, "estimated") == (0, None, None)
    assert part(row, "unknown") == (0, None, None)
    assert (row["cost"], row["cost_unknown_because"]) == (None, [])


async def test_several_currencies_are_a_reason(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    # given
    await set_price(root, "swift", 1)
    await price_with_caches(root, "slow", "EUR")
    sent = await send(recorder, {}, named("slow"), UNREAD | named("slow"))

    # when
    [row] = (await usage(sent, ada, MARCH))["usage"]

    # then
    assert (row["cost"], row["unpriced"]) == (None, [])
    assert row["cost_unknown_because"] == ["several_currencies"]
    assert part(row, "exact") == (2, 2 / 3, None)
    assert row["completeness"]["exact"]["costs"] == [
        {"currency": "EUR", "cost": 1},
        {"currency": "USD", "cost": 1},
    ]
    assert row["completeness"]["estimated"]["costs"] == [
        {"currency": "EUR", "cost": 1},
        {"currency": "USD", "cost": 0},
    ]


async def test_the_period_before_says_why_its_cost_is_unknown(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    # given
    await set_price(root, "swift", 1)
    await set_price(root, "slow", 2, currency="EUR")
    await send(recorder, {}, named("slow"), named("unheard of"))
    next_day = span(9, session__id="chat-1", trace=9, start=86_400)
    sent = await report(recorder, next_day)

    # when
    query = "from_day=2026-03-02&until_day=2026-03-02&compare=true"
    [row] = (await usage(sent, ada, query))["usage"]

    # then
    assert row["before"]["cost"] is None
    reasons = ["no_such_model", "several_currencies"]
    assert row["before"]["cost_unknown_because"] == reasons


async def test_what_a_page_leaves_out_is_in_the_currencies_of_its_own_groups(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    # given
    await price_with_caches(root, "swift", "USD")
    await set_price(root, "slow", 2, currency="EUR")
    sent = await send(recorder, named("slow"), named("slow"), {}, UNREAD)

    # when
    page = await usage(sent, ada, f"{MARCH}&group_by=model&limit=1")

    # then
    assert [row["model"] for row in page["usage"]] == ["slow"]
    rest = page["others"]
    assert (rest["cost"], rest["currency"]) == (2, "USD")
    assert rest["cost_unknown_because"] == []
    assert part(rest, "estimated") == (1, 0.5, 0.5)
    assert page["totals"]["cost_unknown_because"] == ["several_currencies"]


async def test_turns_that_differ_from_what_is_reported_are_summed_up(
    recorder: Recorder, root: Caller, ada: Caller, resources: Resources
) -> None:
    # given: two that differ, one that is equal, and one that isn't reported
    priced = await set_price(root, "swift", 1)
    sent = await send(recorder, reported(0.5), reported(3), reported(1), {})

    # when
    page = await usage(sent, ada, f"{MARCH}&group_by=agent")

    # then
    [row] = page["usage"]
    assert row["differing"] == {"turns": 2, "cost": 2, "reported_cost": 3.5}
    assert page["totals"]["differing"] == row["differing"]

    # when the price is corrected
    await correct(root, priced, 3)
    again = await reprice(root, sent, dry_run=False)

    # then
    [row] = (await usage(again, ada, f"{MARCH}&group_by=agent"))["usage"]
    assert row["differing"] == {"turns": 2, "cost": 6, "reported_cost": 1.5}
    await expect_rebuild_equals_live(resources, "usage")


async def test_where_no_turn_differs_any_more_there_are_no_sums(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    priced = await set_price(root, "swift", 1)
    sent = await send(recorder, reported(3), {})

    await correct(root, priced, 3)
    again = await reprice(root, sent, dry_run=False)

    assert await differing(again, ada) == {"swift": NONE}


async def test_a_turn_of_two_models_differs_once(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    # given: each model differs, but not their sum
    await set_price(root, "swift", 1)
    await set_price(root, "slow", 1)
    at_once = [
        span(1, session__id="chat-1", took=9),
        llm(2, 1, MILLION, 0, start=1, **reported(1.5)),
        llm(3, 1, MILLION - 1, 0, start=3, **reported(0.5), **named("slow")),
    ]
    sent = await report(recorder, *at_once)
    assert await differing(sent, ada) == {"slow": NONE, "swift": NONE}

    # when a late call makes the turn differ
    late = llm(4, 1, 10, 0, start=5, **reported(7))
    again = await report(recorder, late)

    # then
    shown = await differing(again, ada)
    assert shown["slow"] == NONE
    assert shown["swift"]["turns"] == 1
    assert shown["swift"]["reported_cost"] == 9


async def differing(after: Any, by: Caller) -> dict[str, Any]:
    """Return what each model's turns differ by."""
    rows = (await usage(after, by, f"{MARCH}&group_by=model"))["usage"]
    return {row["model"]: row["differing"] for row in rows}


async def test_what_no_turn_tells_is_null_also_after_one_did(
    recorder: Recorder, ada: Caller
) -> None:
    # given: the usage of an agent's run, until the usage of its model call comes
    run: Any = {
        "openinference.span.kind": "AGENT",
        "llm.token_count.prompt": 10,
        "llm.token_count.prompt_details.cache_read": 7,
        "llm.cost.total": 0.5,
    }
    root = span(1, took=9, session__id="chat")
    root.attributes.extend(pairs(run))
    await report(recorder, root)
    late = await report(recorder, llm(2, 1, 20, 1, start=1))

    # when
    [group] = (await usage(late, ada, MARCH))["usage"]

    # then
    assert group["known_token_usage"]["prompt"] == 20
    assert group["known_token_usage"]["cache_read"] is None
    assert group["reported_cost"] is None
    assert group["reported_cost_difference"] is None


async def test_what_no_turn_of_the_rest_tells_is_null(
    recorder: Recorder, ada: Caller
) -> None:
    spans = [
        llm(n, None, 10 * n, 1, trace=n, session__id="chat", llm__model_name=f"m{n}")
        for n in (1, 2)
    ]
    spans[1].attributes.extend(pairs({"llm.token_count.prompt_details.cache_read": 3}))
    told = await report(recorder, *spans)

    data = await usage(told, ada, f"{MARCH}&group_by=model&order=tokens&limit=1")

    assert data["usage"][0]["known_token_usage"]["cache_read"] == 3
    assert data["others"]["known_token_usage"]["prompt"] == 10
    assert data["others"]["known_token_usage"]["cache_read"] is None
