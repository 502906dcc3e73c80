"""What the clients were told: a file that can be checked again at any time."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import orjson

Outcome = Literal["ok", "refused", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The end of one write, after all of its attempts.

    ``number`` is in every attempt's request id. ``refused`` says that each attempt
    was answered as not carried out, ``unknown`` that one of them wasn't answered and
    none was acknowledged. Times are those of the monotonic clock: of the first
    attempt's begin and the last one's end. ``version`` is that of the answer's ETag,
    ``matched`` that of If-Match.
    """

    number: int
    kind: str
    aggregate_id: str
    outcome: Outcome
    status: int
    code: str
    version: int | None
    position: int | None
    matched: int | None
    attempts: int
    started: float
    ended: float


class History:
    """One JSON array a line."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._opened = file.open("ab", buffering=1 << 16)

    def add(self, told: Told) -> None:
        self._opened.write(orjson.dumps(astuple(told)) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()


def read_history(file: Path) -> Iterator[Told]:
    fields = Told.__slots__
    with file.open("rb") as lines:
        for line in lines:
            yield Told(**dict(zip(fields, orjson.loads(line), strict=True)))
