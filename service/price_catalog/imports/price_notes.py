"""Sentences for the notes of a price: everything its four amounts can't express."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from service.price_catalog.periods import NOTES_LENGTH_MAX


def priced(label: str, prices: Mapping[str, Decimal]) -> str | None:
    """List prices for 1,000,000 tokens after a label; None without prices."""
    if not prices:
        return None
    amounts = ", ".join(f"{name} {written(price)}" for name, price in prices.items())
    return f"{label}: {amounts} per 1M."


def rounded(fields: Iterable[str]) -> str | None:
    names = ", ".join(fields)
    return f"Rounded to 10 decimal places: {names}." if names else None


def written(number: Decimal) -> str:
    """Format a number without an exponent; only for one of bounded size."""
    return format(number, "f")


def join_notes(sentences: Iterable[str | None]) -> str | None:
    """Join distinct sentences into one line that any database can store."""
    text = " ".join(dict.fromkeys(filter(None, sentences)))
    clean = printable(text)
    if len(clean) > NOTES_LENGTH_MAX:
        clean = clean[: NOTES_LENGTH_MAX - 4] + " ..."
    return clean or None


def printable(text: str) -> str:
    """Replace control characters and lone surrogates."""
    return "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text
    )
