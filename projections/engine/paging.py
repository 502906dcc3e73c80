"""Pages of a list, with a cursor to go on from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")
Cursor = TypeVar("Cursor")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row, Cursor]):
    """``end_cursor`` is that of the last row, or None on the last page."""

    rows: list[Row]
    end_cursor: Cursor | None


def page_of(
    found: Sequence[Row], limit: int, cursor: Callable[[Row], Cursor]
) -> Page[Row, Cursor]:
    """Return the first ``limit`` rows; one row more tells that there is a next page."""
    rows = list(found[:limit])
    return Page(rows, cursor(rows[-1]) if len(found) > limit else None)
