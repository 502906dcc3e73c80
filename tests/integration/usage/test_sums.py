"""Usage by day, agent, user, provider and model."""

from typing import Any

import pytest

from service.resources import Resources
from tests.integration.usage.reading import usage
from tests.support.callers import Caller, Callers
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.otlp.spans import llm, report, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, turn

DAY = 86_400
MARCH = "from_day=2026-03-01&until_day=2026-03-31"
SPENT: Any = {"provider": "acme", "model": "swift", "prompt_tokens": 2}


async def test_a_day_sums_up_what_its_turns_took(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await set_price(root, "swift", "0.05", output="0.1")
    await recorder.start("chat-1")
    for number in range(3):
        body = turn(f"t{number}", **SPENT, completion_tokens=1, cache_read_tokens=0)
        await recorder.turn("chat-1", body)
    await recorder.turn("chat-1", turn("failed", is_error=True))
    # The last microsecond of the day, and the first of the next.
    await recorder.turn("chat-1", turn("late", DAY / 2 - 0.000001))
    await recorder.turn("chat-1", turn("next day", DAY / 2))

    data = await usage(recorder, ada, MARCH)

    unknown = dict.fromkeys(
        ("total", "prompt", "completion", "cache_read", "cache_creation")
    )
    tokens = {**unknown, "total": 9, "prompt": 6, "completion": 3, "cache_read": 0}
    no_part: dict[str, Any] = {
        "turns": 0,
        "share_of_turns": None,
        "costs": [],
        "share_of_cost": None,
    }
    all_of_it = {
        "turns_with_error": 1,
        "turns_without_price": 0,
        "unpriced": [],
        "turns_without_usage": 0,
        "token_usage": tokens,
        "known_token_usage": tokens,
        "cost": 0.0000006,
        "currency": "USD",
        "known_costs": [{"currency": "USD", "cost": 0.0000006}],
        "cost_unknown_because": [],
        "completeness": {
            "exact": {
                "turns": 3,
                "share_of_turns": 1,
                "costs": [{"currency": "USD", "cost": 0.0000006}],
                "share_of_cost": 1,
            },
            "estimated": {
                "turns": 0,
                "share_of_turns": 0,
                "costs": [{"currency": "USD", "cost": 0}],
                "share_of_cost": 0,
            },
            "unknown": {"turns": 0, "share_of_turns": 0},
        },
        "reported_cost": None,
        "reported_cost_difference": None,
        "differing": {"turns": 0, "cost": None, "reported_cost": None},
        "before": None,
        "unit_costs": None,
    }
    names = ("agent_id", "user_id", "provider", "model", "priced_as", "pricing_rule")
    of_all = {**dict.fromkeys(names), "is_other": False}
    assert data == {
        "usage": [
            {
                "starts_at": "2026-03-01T00:00:00Z",
                "day": "2026-03-01",
                **of_all,
                **all_of_it,
                "turns": 5,
            },
            {
                "starts_at": "2026-03-02T00:00:00Z",
                "day": "2026-03-02",
                **of_all,
                **all_of_it,
                "turns": 1,
                "turns_with_error": 0,
                "token_usage": unknown,
                "known_token_usage": unknown,
                "cost": None,
                "currency": None,
                "known_costs": [],
                "completeness": {
                    "exact": no_part,
                    "estimated": no_part,
                    "unknown": {"turns": 0, "share_of_turns": None},
                },
            },
        ],
        "totals": {**all_of_it, "turns": 6},
        "others": None,
        "groups": 2,
        "from_day": "2026-03-01",
        "until_day": "2026-03-31",
        "time_zone": "UTC",
        "has_next_page": False,
    }


async def test_a_cost_that_is_not_known_in_full_is_null(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await set_price(root, "swift", "0.05")
    await set_price(root, "slow", "0.05", currency="EUR")
    await recorder.start("chat-1")
    for number, model in enumerate(["swift", "slow", "unheard of"]):
        body = turn(f"t{number}", number * DAY, provider="acme", model=model)
        await recorder.turn(
            "chat-1", body | {"prompt_tokens": 1, "completion_tokens": 0}
        )
    dollars = {"currency": "USD", "cost": 0.00000005}
    euros = {"currency": "EUR", "cost": 0.00000005}

    [together] = (await usage(recorder, ada, MARCH + "&group_by=agent"))["usage"]
    by_model = (await usage(recorder, ada, MARCH + "&group_by=model"))["usage"]

    assert (together["cost"], together["turns_without_price"]) == (None, 1)
    assert together["known_costs"] == [euros, dollars]
    assert [(row["model"], row["cost"], row["currency"]) for row in by_model] == [
        ("slow", 0.00000005, "EUR"),
        ("swift", 0.00000005, "USD"),
        ("unheard of", None, None),
    ]


async def test_usage_is_grouped_filtered_and_paged(
    recorder: Recorder, callers: Callers, ada: Caller
) -> None:
    bob = await callers.user("bob")
    await recorder.start("of-bob", user_id=str(bob.user_id))
    await recorder.start("of-runtime")
    for number, session in enumerate(["of-bob", "of-bob", "of-runtime"]):
        await recorder.turn(session, turn(f"t{number}", number * DAY, **SPENT))

    async def turns(query: str) -> list[int]:
        rows = (await usage(recorder, ada, f"{MARCH}&{query}"))["usage"]
        return [row["turns"] for row in rows]

    assert await turns("group_by=user,provider,model") in ([1, 2], [2, 1])
    assert await turns("group_by=day,user") == [1, 1, 1]
    assert await turns("group_by=provider") == [3]
    assert await turns(f"group_by=agent&user_id={bob.user_id}") == [2]
    assert await turns(f"agent_id={bob.user_id}") == []
    assert await turns("group_by=model&model=swift&provider=acme") == [3]
    assert await turns("model=none") == []
    page = await usage(recorder, ada, f"{MARCH}&limit=2")
    rest = await usage(recorder, ada, f"{MARCH}&limit=2&offset=2")
    assert (len(page["usage"]), page["has_next_page"]) == (2, True)
    assert (len(rest["usage"]), rest["has_next_page"]) == (1, False)


async def test_a_model_beside_the_main_one_shows_even_if_its_tokens_are_unknown(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await set_price(root, "swift", "0.05", output="0.1")
    unknown = span(
        3,
        1,
        openinference__span__kind="LLM",
        llm__provider="acme",
        llm__model_name="streamed",
        llm__cost__total=0.25,
    )

    sent = await report(
        recorder, span(1, session__id="chat-1"), llm(2, 1, 100, 10), unknown
    )

    [row] = (await usage(sent, ada, MARCH))["usage"]
    by_model = await usage(sent, ada, MARCH + "&group_by=model")
    assert (row["turns_without_price"], row["cost"]) == (1, None)
    assert row["unpriced"] == [{"reason": "no_such_model", "turns": 1}]
    assert row["reported_cost"] == 0.25
    assert [each["model"] for each in by_model["usage"]] == ["streamed", "swift"]


async def test_who_sees_which_usage(
    recorder: Recorder, readers: dict[str, Caller]
) -> None:
    bob = str(readers["user"].user_id)
    await recorder.record("of-bob", turn("t1"), user_id=bob)
    await recorder.record("of-runtime", turn("t1"))
    seen = {}
    for name, caller in readers.items():
        rows = (await usage(recorder, caller, MARCH))["usage"]
        seen[name] = sum(row["turns"] for row in rows)

    assert seen == {
        "manager": 2,
        "user": 1,
        "stranger": 0,
        "auditor": 2,
        "superuser": 2,
    }


@pytest.mark.parametrize(
    "query",
    [
        "group_by=colour",
        "group_by=",
        "from_day=1767225600",
        "from_day=2026-02-30",
        "from_day=2026-03-02&until_day=2026-03-01",
        "limit=0",
        "limit=1001",
        "offset=-1",
        "agent_id=x",
        "model=%00",
        "day=2026-03-01",
        "from_day=1899-12-31",
        "until_day=9999-01-01",
        "group_by=day,month",
        "time_zone=Europe/Nowhere",
        "time_zone=UTC%2B2",
        "time_zone=../../etc/passwd",
        "time_zone=",
        "order=price",
        "top=5",
        "top=0&group_by=day,agent",
        "top=51&group_by=day,agent",
        "top=5&group_by=day,agent&unit_costs=true",
        "compare=before",
    ],
)
async def test_a_bad_parameter_is_refused(ada: Caller, query: str) -> None:
    reply = await ada.get(f"/api/usage?{query}")

    assert (reply.status, reply.code) == (400, "malformed_request")


async def test_rebuilt_usage_equals_live_one(
    recorder: Recorder, resources: Resources
) -> None:
    await recorder.start("chat-1")
    for number in range(12):
        spent = SPENT if number % 3 else {}
        await recorder.turn("chat-1", turn(f"t{number}", number * DAY / 4, **spent))
    for spans in ([span(1, session__id="chat-2"), llm(2, 1, 5, 1)], [llm(3, 1, 7, 2)]):
        await report(recorder, *spans)

    await expect_rebuild_equals_live(resources, "usage")
