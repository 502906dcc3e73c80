"""How importers put into words what four prices can't say."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

NOTES_LENGTH_MAX = 2000


def priced(label: str, prices: Mapping[str, Decimal]) -> str | None:
    """Write prices for 1,000,000 tokens after what they are for; None for none."""
    if not prices:
        return None
    amounts = ", ".join(f"{name} {written(price)}" for name, price in prices.items())
    return f"{label}: {amounts} per 1M."


def rounded(fields: Iterable[str]) -> str | None:
    names = ", ".join(fields)
    return f"Rounded to 10 decimal places: {names}." if names else None


def written(number: Decimal) -> str:
    """Write a number without an exponent; only for one of sane size."""
    return format(number, "f")


def join_notes(sentences: Iterable[str | None]) -> str | None:
    """Join sentences, each once, into one line that any database can store."""
    text = " ".join(dict.fromkeys(each for each in sentences if each))
    clean = printable(text)
    if len(clean) > NOTES_LENGTH_MAX:
        clean = clean[: NOTES_LENGTH_MAX - 4] + " ..."
    return clean or None


def printable(text: str) -> str:
    """Replace what can't be shown: control characters, lone surrogates."""
    return "".join(
        each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text
    )
