"""One model's prices against what a price list says of it."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.imports.price_list import ImportedModel, PricePeriod
from service.price_catalog.imports.reconcile import HeldBecause, Reconciled, reconcile
from service.price_catalog.periods import Provenance
from service.price_catalog.price import price_at
from service.price_catalog.structure import Structure
from tests.support.price_catalog.prices import LISTED, day, price, priced, pricing

NEWER: Provenance = {"name": "genai-prices", "version": "2", "sha256": "2" * 64}
OTHER: Provenance = {"name": "litellm", "version": "1", "sha256": "1" * 64}
NOW = day(20)
MICROSECOND = timedelta(microseconds=1)
TIERED: Structure = {
    "rates": {
        "input_tokens": {"price": "1", "tiers": [{"above": 1000, "price": "2"}]},
        "output_tokens": {"price": "2", "tiers": []},
    },
    "windows": [],
    "variants": [],
}


def period(
    amount: str,
    start: int | None = None,
    end: int | None = None,
    *,
    output: str | None = "2",
    notes: str | None = None,
    structure: Structure | None = None,
) -> PricePeriod:
    return PricePeriod(
        input_price_per_1m=Decimal(amount),
        output_price_per_1m=None if output is None else Decimal(output),
        cache_creation_price_per_1m=None,
        cache_read_price_per_1m=None,
        currency="USD",
        effective_from=None if start is None else day(start),
        effective_until=None if end is None else day(end),
        notes=notes,
        structure=structure,
    )


def run(
    model: ModelPricing,
    *periods: PricePeriod,
    source: Provenance = LISTED,
    now: datetime = NOW,
    undated_since: datetime | None = None,
) -> Reconciled:
    listed = ImportedModel(
        provider="acme", provider_name="Acme", model="swift-1", periods=periods
    )
    return reconcile(model, listed, source, now=now, undated_since=undated_since or now)


def amounts(model: ModelPricing, *days: int) -> list[Decimal | None]:
    found = (price_at(model, day(number)) for number in days)
    return [each.input_price_per_1m if each else None for each in found]


def test_an_undated_price_counts_from_the_import() -> None:
    model = pricing()
    found = run(model, period("1"))
    assert not found.held_because
    assert price_at(model, NOW - MICROSECOND) is None
    assert amounts(model, 20, 25) == [1, 1]


def test_a_dated_history_comes_with_its_dates_and_an_unknown_beginning() -> None:
    model = pricing()
    run(model, period("4", None, 5), period("2", 5, 10), period("1", 10))
    assert amounts(model, 1, 5, 10, 20) == [4, 2, 1, 1]
    assert model.periods[0]["effective_from"].startswith("1970-01-01")


@pytest.mark.parametrize("later", [20, 21, 30])
def test_a_second_run_changes_nothing(later: int) -> None:
    listed = (period("4", None, 5), period("2", 5, 25), period("1", 25))
    model = pricing()
    run(model, *listed)
    version = model.version
    again = run(model, *listed, now=day(later))
    assert again == Reconciled((), ())
    assert model.version == version


def test_a_new_undated_price_closes_the_old_one_at_the_import() -> None:
    model = priced(1, source=LISTED)
    found = run(model, period("2"))
    assert not found.held_because
    events: list[Any] = list(model.pending_events)[2:]
    assert [event.closes for event in events] == [2]
    assert amounts(model, 19, 20) == [1, 2]


def test_a_newly_dated_price_applies_from_its_date() -> None:
    model = priced(1, source=LISTED)
    found = run(model, period("1", None, 15), period("2", 15))
    assert not found.held_because
    assert amounts(model, 14, 15) == [1, 2]


@pytest.mark.parametrize(
    ("amount", "held"),
    [
        ("5", False),
        ("5.0000000001", True),
        ("0.2", False),
        ("0.1999999999", True),
        ("0", True),
    ],
)
def test_more_than_five_times_is_held(amount: str, *, held: bool) -> None:
    found = run(priced(1, source=LISTED), period(amount))
    assert (HeldBecause.SUSPICIOUS_CHANGE in found.held_because) == held


def test_a_leap_at_the_second_of_two_new_dates_is_held() -> None:
    model = priced(1, source=LISTED)
    listed = period("1", None, 15), period("2", 15, 18), period("1000", 18)
    assert run(model, *listed).held_because == (HeldBecause.SUSPICIOUS_CHANGE,)


def test_a_price_that_becomes_known_is_no_leap() -> None:
    model = pricing()
    model.set_price(
        price("1", None), effective_from=day(1), effective_until=None, source=LISTED
    )
    assert not run(model, period("1", output="9")).held_because


def test_a_manual_price_stands() -> None:
    found = run(priced(1), period("2"))
    assert found.held_because == (HeldBecause.MANUAL_PRICE,)
    assert not run(priced(1), period("1")).changes


def test_another_list_is_held_where_it_differs() -> None:
    found = run(priced(1, source=LISTED), period("2"), source=OTHER)
    assert found.held_because == (HeldBecause.OTHER_SOURCE,)
    agreeing = run(priced(1, source=LISTED), period("1", notes="?"), source=OTHER)
    assert not agreeing.changes


def test_the_past_is_not_repriced_unasked() -> None:
    model = pricing()
    run(model, period("1", 5, 10), period("2", 10))
    found = run(model, period("3", 5, 10), period("2", 10))
    assert found.held_because == (HeldBecause.REPRICES_THE_PAST,)
    assert amounts(model, 5, 10) == [3, 2]


def test_undated_since_reprices_no_past_unasked() -> None:
    model = priced(1, source=LISTED)
    found = run(model, period("2"), undated_since=day(10))
    assert found.held_because == (HeldBecause.REPRICES_THE_PAST,)
    assert amounts(model, 9, 10) == [1, 2]


@pytest.mark.parametrize(
    ("source", "before"), [(LISTED, TIERED), (NEWER, None)], ids=["same", "newer"]
)
def test_a_structure_is_added_to_the_past_from_the_same_list_alone(
    source: Provenance, before: Structure | None
) -> None:
    model = priced(1, source=LISTED)
    found = run(model, period("1", structure=TIERED), source=source)
    assert not found.held_because
    known = [price_at(model, each) for each in (NOW - MICROSECOND, NOW)]
    assert [each and each.structure for each in known] == [before, TIERED]
    assert not run(model, period("1", structure=TIERED), source=source).changes


def test_a_structure_that_a_newer_list_dates_back_is_held() -> None:
    model = priced(1, source=LISTED)
    found = run(model, period("1", 1, structure=TIERED), source=NEWER)
    assert found.held_because == (HeldBecause.REPRICES_THE_PAST,)


def test_another_list_adds_no_structure() -> None:
    listed = period("1", structure=TIERED)
    assert not run(priced(1, source=LISTED), listed, source=OTHER).changes
    assert not run(priced(1), listed).changes


def test_an_announced_price_may_still_change() -> None:
    model = pricing()
    run(model, period("1", 5, 25), period("2", 25))
    found = run(model, period("1", 5, 25), period("3", 25))
    assert not found.held_because
    assert amounts(model, 20, 25) == [1, 3]


def test_an_ended_price_is_not_brought_back_unasked() -> None:
    model = priced(1, source=LISTED)
    model.end_price(2, effective_until=day(10))
    assert run(model, period("1")).held_because == (HeldBecause.ENDED_PRICE,)


def test_a_withdrawn_price_is_not_brought_back_unasked() -> None:
    model = pricing()
    run(model, period("1"))
    model.end_price(2, effective_until=NOW)
    assert not model.periods
    assert run(model, period("1")).held_because == (HeldBecause.ENDED_PRICE,)


@pytest.mark.parametrize("start", [1, 22], ids=["past", "future"])
def test_a_price_withdrawn_before_another_is_not_brought_back_unasked(
    start: int,
) -> None:
    listed = period("1", start, 25), period("2", 25)
    model = pricing()
    run(model, *listed)
    model.end_price(2, effective_until=day(start))
    assert amounts(model, start, 25) == [None, 2]
    assert run(model, *listed).held_because == (HeldBecause.ENDED_PRICE,)


def test_other_words_beside_the_same_price_are_renewed() -> None:
    model = pricing()
    run(model, period("1", notes="Old."))
    found = run(model, period("1", notes="New."), now=day(25))
    assert not found.held_because
    [only] = model.periods
    assert (only["price_version"], only["price"]["notes"]) == (2, "New.")


cuts = st.lists(st.integers(1, 30), unique=True, max_size=5).map(sorted)
listings = st.tuples(cuts, st.booleans(), st.integers(0, 40))


def _periods(cuts: list[int], pick: int, *, open_start: bool) -> list[PricePeriod]:
    edges: list[int | None] = [*([None] if open_start or not cuts else []), *cuts]
    return [
        period(
            str((pick + place) % 4 + 1),
            start,
            end,
            notes=f"Note {(pick + place) % 3}.",
        )
        for place, (start, end) in enumerate(
            zip(edges, [*edges[1:], None], strict=True)
        )
    ]


@given(st.lists(listings, max_size=5))
def test_whatever_was_there_the_list_then_holds_and_stays(runs: list[Any]) -> None:
    """Confirmed all along: at each edge the list's price, and no second change."""
    model = pricing()
    for number, (cuts, open_start, pick) in enumerate(runs):
        now = day(20) + timedelta(days=number)
        listed = _periods(cuts, pick, open_start=open_start)
        run(model, *listed, now=now)
        for each in listed:
            start = each.effective_from or now
            until = each.effective_until
            if until is not None and until <= start:
                continue
            for moment in (start, start + MICROSECOND):
                found = price_at(model, moment)
                assert found is not None
                assert found.input_price_per_1m == each.input_price_per_1m
                assert found.notes == each.notes
        version = model.version
        assert run(model, *listed, now=now + MICROSECOND) == Reconciled((), ())
        assert model.version == version
