"""Usage by hour, day, week and month of a time zone, ordered, compared and divided."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.integration.usage.reading import usage
from tests.support.callers import Caller
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import LONG_AGO, NOON, Recorder, turn

MILLION = 1_000_000


def seconds_to(moment: str) -> float:
    return (datetime.fromisoformat(moment).replace(tzinfo=UTC) - NOON).total_seconds()


async def record(
    recorder: Recorder, turns: list[tuple[str, str, int]], session: str = "chat-1"
) -> None:
    """Record turns at moments, of models, with millions of input tokens."""
    await recorder.start(session, min(seconds_to(at) for at, _, _ in turns))
    for number, (at, model, millions) in enumerate(turns):
        body = turn(f"t{number}", seconds_to(at), provider="acme", model=model)
        spent = {"prompt_tokens": millions * MILLION, "completion_tokens": 0}
        await recorder.turn(session, body | spent)


@pytest.fixture
async def prices(root: Caller) -> None:
    await set_price(root, "swift", 1, since=LONG_AGO)
    await set_price(root, "slow", 10, since=LONG_AGO)


def costs(rows: list[Any], name: str) -> list[Any]:
    return [(row[name], row["cost"]) for row in rows]


async def test_days_of_a_time_zone_have_23_and_25_hours_when_clocks_change(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    # In Berlin, 2025-10-26 is from 22:00 to 23:00 in UTC; its 2 o'clock comes twice.
    await record(
        recorder,
        [
            ("2025-10-25T21:59:59.999999", "swift", 1),
            ("2025-10-25T22:00", "swift", 2),
            ("2025-10-26T00:30", "swift", 4),
            ("2025-10-26T01:30", "swift", 8),
            ("2025-10-26T22:59:59", "swift", 16),
            ("2025-10-26T23:00", "swift", 32),
        ],
    )
    window = "from_day=2025-10-25&until_day=2025-10-27&time_zone=Europe/Berlin"

    days = await usage(recorder, ada, window)
    hours = await usage(
        recorder,
        ada,
        "from_day=2025-10-26&until_day=2025-10-26&time_zone=Europe/Berlin"
        "&group_by=hour",
    )

    assert costs(days["usage"], "day") == [
        ("2025-10-25", 1),
        ("2025-10-26", 30),
        ("2025-10-27", 32),
    ]
    assert costs(hours["usage"], "starts_at") == [
        ("2025-10-25T22:00:00Z", 2),
        ("2025-10-26T00:00:00Z", 4),
        ("2025-10-26T01:00:00Z", 8),
        ("2025-10-26T22:00:00Z", 16),
    ]
    assert hours["totals"]["cost"] == 30


async def test_a_zone_may_be_off_by_a_quarter_of_an_hour(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    await record(
        recorder,
        [("2026-03-01T18:14:59", "swift", 1), ("2026-03-01T18:15", "swift", 2)],
    )

    data = await usage(
        recorder,
        ada,
        "from_day=2026-03-01&until_day=2026-03-02&time_zone=Asia/Kathmandu",
    )

    assert costs(data["usage"], "day") == [("2026-03-01", 1), ("2026-03-02", 2)]


async def test_weeks_begin_on_monday_and_months_are_whole(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    await record(
        recorder,
        [
            ("2025-12-28T12:00", "swift", 1),
            ("2025-12-29T12:00", "swift", 2),
            ("2026-01-04T12:00", "swift", 4),
            ("2026-01-05T12:00", "swift", 8),
        ],
    )
    window = "from_day=2025-12-01&until_day=2026-01-31"

    weeks = await usage(recorder, ada, window + "&group_by=week&compare=true")
    months = await usage(recorder, ada, window + "&group_by=month&compare=true")

    assert [
        (row["day"], row["cost"], row["before"]["cost"]) for row in weeks["usage"]
    ] == [("2025-12-22", 1, None), ("2025-12-29", 6, 1), ("2026-01-05", 8, 6)]
    assert [
        (row["day"], row["cost"], row["before"]["turns"]) for row in months["usage"]
    ] == [("2025-12-01", 3, 0), ("2026-01-01", 12, 2)]


async def test_the_first_day_is_compared_with_the_one_before_the_window(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    await record(
        recorder,
        [
            ("2026-02-27T12:00", "swift", 1),
            ("2026-02-28T12:00", "swift", 2),
            ("2026-03-01T12:00", "swift", 4),
            ("2026-03-01T12:00", "slow", 1),
        ],
    )
    window = "from_day=2026-03-01&until_day=2026-03-02&compare=true"

    days = await usage(recorder, ada, window)
    models = await usage(recorder, ada, window + "&group_by=model")

    [day] = days["usage"]
    assert (day["cost"], day["before"]["cost"], day["before"]["turns"]) == (14, 2, 1)
    assert days["totals"]["before"]["cost"] == 3
    assert [(row["model"], row["before"]["turns"]) for row in models["usage"]] == [
        ("slow", 0),
        ("swift", 2),
    ]


async def test_a_week_that_is_cut_is_compared_with_the_same_days(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    # Two weeks of a turn a day, each with a million tokens more than the day before.
    days = [f"2026-02-{day:02}T12:00" for day in range(2, 16)]
    await record(recorder, [(at, "swift", n) for n, at in enumerate(days, 1)])
    query = "&group_by=week&compare=true"

    cut = await usage(recorder, ada, f"from_day=2026-02-11&until_day=2026-02-12{query}")
    begun = await usage(
        recorder, ada, f"from_day=2026-02-09&until_day=2026-02-10{query}"
    )

    # From Wednesday to Thursday, and from Monday to Tuesday.
    [week] = cut["usage"]
    assert (week["cost"], week["before"]["cost"], week["before"]["turns"]) == (21, 7, 2)
    [week] = begun["usage"]
    assert (week["cost"], week["before"]["cost"]) == (17, 3)


async def test_days_without_usage_are_compared_with_those_before(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    await record(recorder, [("2026-02-27T12:00", "swift", 1)])
    window = "from_day=2026-03-01&until_day=2026-03-02&compare=true&group_by=model"

    data = await usage(recorder, ada, window)

    assert data["usage"] == []
    before = data["totals"]["before"]
    assert (before["turns"], before["cost"]) == (1, 1)


async def test_the_day_before_one_that_begins_at_one_o_clock(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    # In Cairo, clocks go forward at midnight: 2025-04-25 begins at 1:00.
    days = ["2025-04-24T12:00", "2025-04-25T12:00", "2025-04-26T12:00"]
    await record(recorder, [(at, "swift", number) for number, at in enumerate(days, 1)])

    data = await usage(
        recorder,
        ada,
        "from_day=2025-04-24&until_day=2025-04-26&time_zone=Africa/Cairo&compare=true",
    )

    assert [(row["cost"], row["before"]["cost"]) for row in data["usage"]] == [
        *((1, None), (2, 1), (3, 2)),
    ]


async def test_a_page_by_cost_has_the_dearest_and_the_rest_together(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    await record(
        recorder,
        [
            ("2026-03-01T12:00", "swift", 3),
            ("2026-03-01T12:00", "slow", 2),
            ("2026-03-01T12:00", "unheard of", 9),
        ],
    )
    query = "from_day=2026-03-01&until_day=2026-03-31&group_by=model&limit=1"

    first = await usage(recorder, ada, query + "&order=cost")
    second = await usage(recorder, ada, query + "&order=cost&offset=1")
    by_tokens = await usage(recorder, ada, query + "&order=tokens")
    beyond = await usage(recorder, ada, query + "&order=cost&offset=3")

    assert costs(first["usage"], "model") == [("slow", 20)]
    assert costs(second["usage"], "model") == [("swift", 3)]
    assert costs(by_tokens["usage"], "model") == [("unheard of", None)]
    assert (first["groups"], first["has_next_page"]) == (3, True)
    assert (beyond["usage"], beyond["groups"], beyond["has_next_page"]) == (
        [],
        None,
        False,
    )
    assert first["totals"]["known_costs"] == [{"currency": "USD", "cost": 23}]
    assert first["totals"]["cost"] is None
    assert (first["others"]["turns"], first["others"]["cost"]) == (2, None)
    assert first["others"]["known_costs"] == [{"currency": "USD", "cost": 3}]
    assert first["others"]["known_token_usage"]["total"] == 12 * MILLION
    assert beyond["others"] == first["totals"]


async def test_a_series_has_the_dearest_and_one_of_all_others(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    await record(
        recorder,
        [
            ("2026-03-01T12:00", "swift", 3),
            ("2026-03-01T12:00", "unheard of", 1),
            ("2026-03-02T12:00", "slow", 2),
            ("2026-03-02T12:00", "swift", 1),
        ],
    )

    data = await usage(
        recorder,
        ada,
        "from_day=2026-03-01&until_day=2026-03-02&group_by=day,model&top=1",
    )

    assert [
        (row["day"], row["model"], row["is_other"], row["known_costs"])
        for row in data["usage"]
    ] == [
        ("2026-03-01", None, True, [{"currency": "USD", "cost": 3}]),
        ("2026-03-02", "slow", False, [{"currency": "USD", "cost": 20}]),
        ("2026-03-02", None, True, [{"currency": "USD", "cost": 1}]),
    ]


async def test_groups_in_several_currencies_are_ordered_by_the_one_used_most(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await set_price(root, "swift", 1)
    await set_price(root, "slow", 1)
    await set_price(root, "yen", 100, currency="JPY")
    await record(
        recorder,
        [
            ("2026-03-01T12:00", "yen", 9),
            ("2026-03-01T12:00", "swift", 1),
            ("2026-03-01T12:00", "slow", 2),
        ],
    )

    data = await usage(recorder, ada, "from_day=2026-03-01&group_by=model&order=cost")

    assert [row["model"] for row in data["usage"]] == ["slow", "swift", "yen"]


async def test_unit_costs_count_sessions_and_users_once(
    recorder: Recorder, prices: None, ada: Caller
) -> None:
    both = [("2026-03-01T12:00", "swift", 3), ("2026-03-02T12:00", "slow", 1)]
    await record(recorder, both)
    await record(recorder, both[:1], session="chat-2")
    window = "from_day=2026-03-01&until_day=2026-03-02&unit_costs=true"

    by_day = await usage(recorder, ada, window)
    by_model = await usage(recorder, ada, window + "&group_by=model&order=cost")

    def counts(row: Any) -> Any:
        units = row["unit_costs"]
        return units["sessions"], units["users"], units["per_turn"]

    assert [counts(row) for row in by_day["usage"]] == [(2, 1, 3), (1, 1, 10)]
    assert [counts(row) for row in by_model["usage"]] == [(1, 1, 10), (2, 1, 3)]
    assert by_day["totals"]["unit_costs"] == {
        "sessions": 2,
        "users": 1,
        "per_turn": pytest.approx(16 / 3),
        "per_session": 8,
        "per_user": 16,
    }
