"""The structure of a price: what its four flat amounts can't express."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from typing_extensions import TypedDict

from service.events import DecimalText, Time

# Of a price, windows, and in each of them and of its variants, ranges of hours.
HOURS_MAX = 20


class Tier(TypedDict):
    """The price of a unit in a model call with more than ``above`` input tokens."""

    above: int
    price: DecimalText


class Rate(TypedDict):
    """The price of a unit, for as many of it as ``usage.UNITS`` says; tiers ascend."""

    price: DecimalText
    tiers: list[Tier]


class Hours(TypedDict):
    """A time of day in UTC, from ``start`` to just before ``end``: ``"16:30"``.

    Either may have seconds, and a day ends at ``"24:00"``. It contains midnight if it
    ends before it starts. ``weekdays`` are 1, Monday, to 7, of the day on which the
    model call starts; none means every day.
    """

    start: str
    end: str
    weekdays: list[int]


class Window(TypedDict):
    """The rates at some hours; they replace all others."""

    hours: list[Hours]
    rates: dict[str, Rate]


class Variant(TypedDict):
    """The rates of model calls that ask for something: ``{"service_tier": "flex"}``.

    They replace those of the same units, from ``since`` on. Of several variants for the
    same unit the first one counts.
    """

    when: dict[str, str]
    since: Time | None
    hours: list[Hours]
    rates: dict[str, Rate]


class Structure(TypedDict):
    """All rates of a price; the flat amounts repeat some of them."""

    rates: dict[str, Rate]
    windows: list[Window]
    variants: list[Variant]


def rates_at(
    structure: Structure, at: datetime, conditions: Mapping[str, str]
) -> dict[str, Rate]:
    """Return the rate of each unit for a model call at a time, with its conditions."""
    return {
        **base_rates(structure, at),
        **variant_rates(structure, at, conditions),
    }


def base_rates(structure: Structure, at: datetime) -> dict[str, Rate]:
    """Return the rates of model calls at a time that ask for nothing special."""
    rates = structure["rates"]
    for window in structure["windows"]:
        if _contains(window["hours"], at):
            rates = window["rates"]
    return rates


def variant_rates(
    structure: Structure, at: datetime, conditions: Mapping[str, str]
) -> dict[str, Rate]:
    """Return the rates that a call's conditions replace."""
    chosen: dict[str, Rate] = {}
    for variant in structure["variants"]:
        if _applies(variant, at, conditions):
            chosen = {**variant["rates"], **chosen}
    return chosen


def _applies(variant: Variant, at: datetime, conditions: Mapping[str, str]) -> bool:
    since = variant["since"]
    return (
        variant["when"].items() <= conditions.items()
        and (since is None or datetime.fromisoformat(since) <= at)
        and (not variant["hours"] or _contains(variant["hours"], at))
    )


def _contains(hours: Iterable[Hours], at: datetime) -> bool:
    local = at.astimezone(UTC)
    # Texts of one width, which sort as times do.
    clock, weekday = local.strftime("%H:%M:%S.%f"), local.isoweekday()
    for window in hours:
        start, end = window["start"], window["end"]
        if window["weekdays"] and weekday not in window["weekdays"]:
            continue
        if start <= clock < end if start <= end else clock >= start or clock < end:
            return True
    return False
