"""The answer follows the clock: no event, no restart, in every process."""

from datetime import datetime, timedelta
from typing import Any

from tests.integration.price_catalog.conftest import Pair
from tests.support.callers import Caller, Reply
from tests.support.price_catalog.prices import day
from tests.support.waiting import until

PROVIDERS = "/api/llm-router/providers"
MICROSECOND = timedelta(microseconds=1)


async def announce(root: Caller, *starts: int) -> Reply:
    """Set a model's prices, each its start day; the last one ends two days later."""
    await root.post(PROVIDERS, {"key": "acme", "display_name": "Acme"})
    for start in starts:
        body: dict[str, Any] = {
            "provider": "acme",
            "model": "swift-1",
            "input_price_per_1m": start,
            "effective_from": day(start).isoformat(),
        }
        if start == starts[-1]:
            body["effective_until"] = day(start + 2).isoformat()
        last = await root.post("/api/llm-router/prices", body)
        assert last.status == 201
    return last


async def amounts(caller: Caller, position: int | None = None) -> list[int]:
    headers = {} if position is None else {"X_Min_Position": str(position)}
    reply = await caller.get(PROVIDERS, **headers)
    assert reply.status == 200
    return [
        model["input_price_per_1m"]
        for provider in reply.data
        for model in provider["models"]
    ]


async def test_the_answer_changes_at_the_very_instant_in_both_processes(
    pair: Pair,
) -> None:
    last = await announce(pair.first, 2, 5)
    position = last.position

    expected = [
        (day(2) - MICROSECOND, []),
        (day(2), [2]),
        (day(2) + MICROSECOND, [2]),
        (day(5) - MICROSECOND, [2]),
        (day(5), [5]),
        (day(7) - MICROSECOND, [5]),
        (day(7), []),
        # A clock that is set back is believed too.
        (day(5) - MICROSECOND, [2]),
    ]
    for now, found in expected:
        pair.clock.now = now
        assert await amounts(pair.first, position) == found, now
        assert await amounts(pair.second, position) == found, now

    later = await pair.first.get(PROVIDERS)
    assert later.position == position


async def test_a_kept_answer_ends_with_the_price(pair: Pair) -> None:
    position = (await announce(pair.first, 2, 5)).position

    async def max_age(now: datetime) -> str:
        pair.clock.now = now
        reply = await pair.second.get(PROVIDERS, X_Min_Position=str(position))
        return str(reply.headers["Cache-Control"])

    assert await max_age(day(5) - timedelta(hours=1)) == "private, max-age=60"
    assert await max_age(day(5) - timedelta(seconds=30)) == "private, max-age=30"
    assert await max_age(day(5) - timedelta(seconds=1.5)) == "private, max-age=1"
    assert await max_age(day(5) - MICROSECOND) == "private, max-age=0"
    assert await max_age(day(8)) == "private, max-age=60"


async def test_the_etag_is_that_of_the_moment_and_the_same_in_both_processes(
    pair: Pair,
) -> None:
    position = str((await announce(pair.first, 2, 5)).position)

    etags = []
    for now in (day(2), day(5), day(3)):
        pair.clock.now = now
        one = await pair.first.get(PROVIDERS, X_Min_Position=position)
        other = await pair.second.get(PROVIDERS, X_Min_Position=position)
        assert one.headers["ETag"] == other.headers["ETag"]
        etags.append(one.headers["ETag"])

    assert etags[0] == etags[2] != etags[1]


async def test_the_other_process_shows_a_change_at_once_when_asked_for_it(
    pair: Pair,
) -> None:
    pair.clock.now = day(3)
    assert await amounts(pair.second) == []
    position = (await announce(pair.first, 2, 5)).position
    assert await amounts(pair.second, position) == [2]


async def test_the_other_process_shows_a_change_by_itself_soon(pair: Pair) -> None:
    pair.clock.now = day(3)
    assert await amounts(pair.second) == []
    await announce(pair.first, 2, 5)
    assert await until(lambda: amounts(pair.second)) == [2]
