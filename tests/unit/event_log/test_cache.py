"""The cache of aggregates: bounded in bytes, whatever aggregates are like."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson

from service.aggregate import LoggedAggregate
from service.event_log.cache import AggregateCache
from service.footprint import footprint
from tests.support.event_log.ledger import Ledger

AT = datetime(2026, 3, 1, tzinfo=UTC)
BYTES_MAX = 1_000_000


def ledger(name: str, entries: int = 0) -> Ledger:
    made = Ledger(name)
    for number in range(entries):
        made.enter(f"{name} {number}")
    made.take_events(at=AT)
    return made


def entered(cache: AggregateCache, aggregate_id: UUID, note: str) -> Ledger:
    """Commit an entry, as a command would."""
    known = cache.get(aggregate_id)
    assert isinstance(known, Ledger)
    changed = known.working_copy()
    changed.enter(note)
    changed.take_events(at=AT)
    cache.put(changed, len(orjson.dumps({"note": note})))
    return changed


def taken(*aggregates: LoggedAggregate) -> int:
    return sum(footprint(vars(each)) for each in aggregates)


def kept(cache: AggregateCache, ledgers: list[Ledger]) -> list[Ledger]:
    return [each for each in ledgers if cache.get(each.id) is each]


def test_large_ones_leave_as_little_room_as_they_take() -> None:
    cache = AggregateCache(BYTES_MAX)
    small = [ledger(f"small {number}") for number in range(500)]
    large = [ledger(f"large {number}", entries=200) for number in range(90)]

    for each in (*small, *large):
        cache.put(each)

    assert kept(cache, small) == []
    assert 5 < len(kept(cache, large)) < 90
    assert taken(*kept(cache, large)) <= cache.bytes <= BYTES_MAX


def test_what_was_used_last_is_kept() -> None:
    cache = AggregateCache(BYTES_MAX)
    ledgers = [ledger(str(number), entries=200) for number in range(90)]

    for each in ledgers:
        cache.put(each)
        cache.get(ledgers[0].id)

    assert cache.get(ledgers[0].id) is ledgers[0]
    assert cache.get(ledgers[1].id) is None
    assert cache.get(ledgers[-1].id) is ledgers[-1]


def test_one_that_grows_by_commands_counts_as_it_is() -> None:
    cache = AggregateCache(BYTES_MAX)
    grown = ledger("grown")
    cache.put(grown)

    for number in range(500):
        grown = entered(cache, grown.id, str(number))

        assert cache.bytes * 1.6 >= taken(grown)
        assert cache.bytes <= 2 * taken(grown) + 1_500


def test_one_that_grows_drives_others_out() -> None:
    cache = AggregateCache(BYTES_MAX)
    others = [ledger(str(number), entries=200) for number in range(50)]
    grown = ledger("grown")
    for each in (*others, grown):
        cache.put(each)

    for _ in range(40):
        grown = entered(cache, grown.id, "x" * 10_000)

    assert cache.get(grown.id) is grown
    assert len(kept(cache, others)) < len(others)
    assert taken(grown, *kept(cache, others)) <= BYTES_MAX


def test_one_that_would_take_more_than_half_isnt_kept() -> None:
    cache = AggregateCache(BYTES_MAX)
    small, growing = ledger("small"), ledger("growing")
    cache.put(small)
    cache.put(growing)
    huge = growing.working_copy()
    huge.annotate({"text": "x" * 600_000})
    huge.take_events(at=AT)

    cache.put(huge)

    # Nor is its older version.
    assert cache.get(growing.id) is None
    assert cache.get(small.id) is small


def test_what_is_evicted_takes_nothing() -> None:
    cache = AggregateCache(BYTES_MAX)
    moved, forgotten, cleared = (ledger(each, entries=10) for each in "abc")

    def put(*aggregates: Any) -> None:
        for each in aggregates:
            cache.put(each)

    put(moved, forgotten)
    cache.moved(moved.id, moved.version + 1)
    cache.forget(forgotten.id, forgotten.version)
    assert cache.bytes == 0
    put(cleared)
    cache.clear()
    assert cache.bytes == len(cache) == 0
