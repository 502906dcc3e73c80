"""Recorded turns get the cost of prices that were corrected or imported later."""

from typing import Any

import pytest

from projections.sessions import repricing_queries
from service.resources import Resources
from tests.support.callers import Caller
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.otlp.spans import Exported, llm, report, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, at, turn

REPRICE = "/api/llm-router/reprice"
DAY: Any = {"from_time": at(0), "until_time": at(86_400)}
SPENT: Any = {
    "provider": "acme",
    "model": "swift",
    "prompt_tokens": 1_000_000,
    "completion_tokens": 0,
}
TIERS: Any = {
    "rates": {
        "input_tokens": {"price": 1, "tiers": [{"above": 900_000, "price": 100}]},
        "output_tokens": {"price": 0},
    },
    "windows": [],
    "variants": [],
}


async def correct(root: Caller, priced: Any, amount: int, **others: Any) -> None:
    version = priced["price"]["price_version"]
    reply = await root.post(
        f"/api/llm-router/models/{priced['model_id']}/prices/{version}/corrections",
        {"input_price_per_1m": amount, "output_price_per_1m": 0, **others},
    )
    assert reply.status == 201, reply.data


async def reprice(root: Caller, recorded: Any, **body: Any) -> Any:
    reply = await root.post(
        REPRICE, {**DAY, **body}, X_Min_Position=str(recorded.position)
    )
    assert reply.status == 200, reply.data
    return reply


async def shown(reader: Caller, position: Any) -> Any:
    reply = await reader.get(
        "/api/observability/session/chat-1", X_Min_Position=str(position)
    )
    assert reply.status == 200, reply.data
    return reply.data


async def usage(reader: Caller, position: Any) -> dict[str | None, Any]:
    reply = await reader.get(
        "/api/usage?from_day=2026-03-01&until_day=2026-03-02&group_by=model",
        X_Min_Position=str(position),
    )
    assert reply.status == 200, reply.data
    return {row["model"]: row for row in reply.data["usage"]}


async def test_a_correction_reprices_sessions_and_usage(
    recorder: Recorder, root: Caller, ada: Caller, resources: Resources
) -> None:
    priced = await set_price(root, "swift", 2)
    await recorder.record(
        "chat-1", *(turn(f"t{number}", number, **SPENT) for number in range(2))
    )
    before = await shown(ada, recorder.position)
    await correct(root, priced, 3)
    head = await resources.log.head()
    dry = await reprice(root, recorder)

    assert dry.message == "turns compared"
    assert dry.data == {
        "dry_run": True,
        "turns": 2,
        "turns_changed": 2,
        "turns_not_repriceable": 0,
        "turns_skipped": 0,
        "differences": [
            {
                "day": "2026-03-01",
                "agent_id": recorder.agent_id,
                "provider": "acme",
                "model": "swift",
                "currency": "USD",
                "old_cost": 4,
                "new_cost": 6,
                "turns_changed": 2,
                "turns_getting_a_price": 0,
                "turns_losing_their_price": 0,
            }
        ],
        "next": None,
    }
    assert await resources.log.head() == head

    done = await reprice(root, recorder, dry_run=False)

    assert done.message == "turns repriced"
    assert done.data == {**dry.data, "dry_run": False}
    after = await shown(ada, done.position)
    assert after["cost_summary"]["total"] == {"cost": 6, "currency": "USD"}
    for old, new in zip(before["turns"], after["turns"], strict=True):
        assert (old["cost"], new["cost"]) == (2, 3)
        assert old["price_id"] != new["price_id"]
        assert old["priced_at"] < new["priced_at"]
        changed = {"cost", "list_cost", "price_id", "priced_at"}
        assert {name for name in new if old[name] != new[name]} == changed
    for each in (before, after):
        times = [shown_turn["priced_at"] for shown_turn in each["turns"]]
        summary = each["cost_summary"]
        assert summary["first_priced_at"] == min(times)
        assert summary["last_priced_at"] == max(times)
    row = (await usage(ada, done.position))["swift"]
    assert (row["cost"], row["turns"]) == (6, 2)

    again = await reprice(root, done, dry_run=False)

    assert (again.data["turns"], again.data["turns_changed"]) == (2, 0)
    assert again.data["differences"] == []
    assert "X-Event-Position" not in again.headers
    await expect_rebuild_equals_live(resources, "sessions")


async def test_a_late_price_prices_and_a_withdrawn_one_unprices(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await recorder.start("chat-1")
    recorded = await recorder.turn("chat-1", turn("t", **SPENT))
    priced = await set_price(root, "swift", 2)

    gained = await reprice(root, recorded, dry_run=False)

    [row] = gained.data["differences"]
    assert (row["old_cost"], row["new_cost"], row["currency"]) == (None, 2, "USD")
    assert (row["turns_getting_a_price"], row["turns_losing_their_price"]) == (1, 0)
    assert (await usage(ada, gained.position))["swift"]["unpriced"] == []

    version = priced["price"]["price_version"]
    ended = await root.post(
        f"/api/llm-router/models/{priced['model_id']}/prices/{version}/end",
        {"effective_until": "2026-01-01T00:00:00Z"},
    )
    assert ended.status == 200, ended.data
    lost = await reprice(root, gained, dry_run=False)

    [row] = lost.data["differences"]
    assert (row["old_cost"], row["new_cost"], row["currency"]) == (2, None, "USD")
    assert (row["turns_getting_a_price"], row["turns_losing_their_price"]) == (0, 1)
    [unpriced] = (await shown(ada, lost.position))["turns"]
    assert (unpriced["cost"], unpriced["unpriced"]) == (None, "no_price_then")
    used = (await usage(ada, lost.position))["swift"]
    assert (used["cost"], used["turns_without_price"]) == (None, 1)


async def test_usage_keeps_nothing_of_a_replaced_currency(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    priced = await set_price(root, "swift", 2)
    await recorder.start("chat-1")
    recorded = await recorder.turn("chat-1", turn("t", **SPENT))
    await correct(root, priced, 3, currency="EUR")

    done = await reprice(root, recorded, dry_run=False)

    costs = {
        row["currency"]: (row["old_cost"], row["new_cost"], row["turns_changed"])
        for row in done.data["differences"]
    }
    assert costs == {"EUR": (None, 3, 1), "USD": (2, None, 0)}
    used = (await usage(ada, done.position))["swift"]
    assert (used["cost"], used["currency"]) == (3, "EUR")


async def traced(recorder: Recorder, *more: Any) -> Exported:
    """Send a turn of three calls; each prompt is short, all of them are long."""
    calls = [
        llm(2, 1, 600_000, 0),
        llm(3, 1, 600_000, 0),
        llm(4, 1, 500_000, 0, llm__model_name="slow"),
    ]
    root_span = span(1, session__id="chat-1", input__value="q", took=2)
    return await report(recorder, *calls, *more, root_span)


async def test_each_call_of_a_turn_from_spans_is_priced_again(
    recorder: Recorder, root: Caller, ada: Caller, resources: Resources
) -> None:
    swift = await set_price(root, "swift", 2)
    await set_price(root, "slow", 4)
    recorded = await traced(recorder)
    assert (await shown(ada, recorded.position))["turns"][0]["cost"] == 4.4
    await correct(root, swift, 1, structure=TIERS)

    done = await reprice(root, recorded, dry_run=False)

    # The other model of the turn stays as it was.
    [row] = done.data["differences"]
    assert (row["model"], row["old_cost"], row["new_cost"]) == ("swift", 2.4, 1.2)
    assert row["turns_changed"] == done.data["turns_changed"] == 1
    # No prompt is longer than the tier begins, though their sum is.
    [repriced] = (await shown(ada, done.position))["turns"]
    assert repriced["cost"] == 3.2
    assert repriced["input"] == "q"
    rows = await usage(ada, done.position)
    assert (rows["swift"]["cost"], rows["slow"]["cost"]) == (1.2, 2)

    # More spans amend the repriced turn.
    amended = await report(recorder, llm(5, 1, 100_000, 0))
    [turn_now] = (await shown(ada, amended.position))["turns"]
    assert turn_now["cost"] == 3.3
    rows = await usage(ada, amended.position)
    assert (rows["swift"]["cost"], rows["slow"]["cost"]) == (1.3, 2)
    await expect_rebuild_equals_live(resources, "sessions")
    await expect_rebuild_equals_live(resources, "usage")


async def test_turns_come_in_pages_across_sessions(
    recorder: Recorder, root: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("chat-1", "chat-2"):
        await recorder.start(session)
        # At the same time, and so that a page ends within a session.
        for number in range(3):
            await recorder.turn(session, turn(f"t{number}", number // 2, **SPENT))
    await set_price(root, "swift", 2)
    monkeypatch.setattr(repricing_queries, "PAGE_TURNS", 4)

    first = await reprice(root, recorder, dry_run=False)
    last = await reprice(root, first, dry_run=False, after=first.data["next"])

    assert (first.data["turns_changed"], last.data["turns_changed"]) == (4, 2)
    assert (last.data["turns_skipped"], last.data["next"]) == (0, None)


async def test_a_page_ends_after_a_turn_with_many_calls(
    recorder: Recorder, root: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = await traced(recorder)
    await recorder.turn("chat-1", turn("later", 100, **SPENT))
    monkeypatch.setattr(repricing_queries, "PAGE_CALLS", 3)

    first = await reprice(root, recorder)
    last = await reprice(root, recorder, after=first.data["next"])

    assert recorded.rejected == 0
    assert [page.data["turns"] for page in (first, last)] == [1, 1]
    assert last.data["next"] is None


async def test_filters_and_the_half_open_period_choose_turns(
    recorder: Recorder, root: Caller
) -> None:
    await recorder.start("chat-1")
    turns: list[tuple[str, float, dict[str, str]]] = [
        ("in", 0, {}),
        ("before", -0.000001, {}),
        ("after", 86_400, {}),
        ("other", 1, {"model": "slow"}),
    ]
    for name, start, words in turns:
        await recorder.turn("chat-1", turn(name, start, **{**SPENT, **words}))
    found = {}
    filters: dict[str, dict[str, str]] = {
        "all": {},
        "model": {"model": "slow"},
        "provider": {"provider": "other"},
        "agent": {"agent_id": recorder.agent_id},
        "no agent": {"agent_id": "00000000-0000-0000-0000-000000000000"},
    }
    for name, chosen in filters.items():
        found[name] = (await reprice(root, recorder, **chosen)).data["turns"]

    assert found == {"all": 2, "model": 1, "provider": 0, "agent": 2, "no agent": 0}


async def test_filters_find_every_model_of_a_turn(
    recorder: Recorder, root: Caller
) -> None:
    recorded = await traced(recorder)
    filters: list[dict[str, str]] = [
        {"model": "swift"},
        {"model": "slow", "provider": "acme"},
        {"model": "other"},
        {"provider": "other"},
    ]
    found = [
        (await reprice(root, recorded, **names)).data["turns"] for names in filters
    ]

    assert found == [1, 1, 0, 0]


async def test_a_period_that_ends_before_it_starts_is_refused(root: Caller) -> None:
    reply = await root.post(REPRICE, {"from_time": at(1), "until_time": at(0)})

    assert reply.status == 422
    assert reply.data["errors"][0]["path"] == "until_time"
