"""Export the trail as JSON Lines and CSV, batch by batch."""

import base64
import csv
import re
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from typing import Any, Final, Literal, NamedTuple

from aiohttp import web

from agent_runtime_client.proofs.export_end import END, end_line
from projections.audit.entry_json import recorded
from projections.audit.trail.entry import AuditEntry, named_entries
from projections.audit.trail.filters import Filters
from projections.audit.trail.queries import Found, entries_found
from service.database import Db
from service.event_log.mapper import EventMapper
from service.event_log.read_replica import ReplicaLostError
from service.event_log.stored_entries import StoredEntry
from service.http.envelope import to_json
from service.keys.vault import Vault
from service.pacing import Pace

BATCH_ENTRIES: Final = 500
COLUMNS: Final = (
    "position",
    "recorded_at",
    "actor_id",
    "actor",
    "token_id",
    "request_id",
    "trace_id",
    "address",
    "kind",
    "resource_kind",
    "resource_id",
    "resource_name",
    "version",
    "what",
)
# What a spreadsheet takes for the beginning of a formula.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 # as full-width characters too
# A spreadsheet may separate at semicolons or tabs, whatever the quotes say.
_FORMULA: Final = re.compile(
    rf"((?:^|[;\t|])[ \"']*)(?=[{re.escape(''.join(FORMULA_STARTS))}])"
)

Format = Literal["jsonl", "csv"]
# The leaves of positions in the Merkle tree, as far as it has grown.
LeavesOf = Callable[[Db, Sequence[int]], Awaitable[Mapping[int, bytes]]]
LEAVES: Final[web.AppKey[LeavesOf]] = web.AppKey("leaves")
Borrow = Callable[[], AbstractAsyncContextManager[Db]]


@dataclass(frozen=True, slots=True)
class Exported:
    """A batch of lines, and its last position."""

    lines: bytes
    last: int


class _Batch(NamedTuple):
    found: Found
    shown: Sequence[AuditEntry]
    leaves: Mapping[int, bytes]


async def no_leaves(_db: Db, _positions: Sequence[int]) -> Mapping[int, bytes]:
    """Return none: without a tree, lines have no leaves."""
    return {}


Attempt = Callable[[Callable[[], Awaitable[_Batch]]], Awaitable[_Batch]]


async def export(
    borrow: Borrow,
    mapper: EventMapper,
    filters: Filters,
    form: Format,
    leaves_of: LeavesOf,
    vault: Vault | None = None,
    attempt: Attempt | None = None,
) -> AsyncIterator[Exported]:
    """Yield the lines of all entries that pass, oldest first, and then the end.

    Without ``vault``, users' sealed names are left out. ``attempt`` reads a batch,
    again where that fails. ``leaves_of`` has the leaves of the lines. Bytes without the
    end were cut off, whoever passed them on.

    Each batch is read on a connection of its own for as long as that takes, so that
    a slow reader holds none. The log is only added to: batches fit together.
    """
    until = max(0, filters.last)
    if form == "csv":
        yield Exported(_csv([COLUMNS]), filters.first - 1)
    while filters.first <= filters.last:
        read = partial(_read, borrow, mapper, filters, form, vault, leaves_of)
        try:
            batch = await (attempt(read) if attempt else read())
        except ReplicaLostError:
            # The next connection is the primary's.
            continue
        entries = batch.found.entries
        if entries:
            lines = (
                await _rows(batch.shown)
                if form == "csv"
                else await _lines(entries, batch.shown, batch.leaves)
            )
            yield Exported(lines, entries[-1].position)
        if batch.found.reached is None:
            break
        filters = replace(filters, first=batch.found.reached + 1)
    yield Exported(_end_row(until) if form == "csv" else end_line(until), until)


async def _read(
    borrow: Borrow,
    mapper: EventMapper,
    filters: Filters,
    form: Format,
    vault: Vault | None,
    leaves_of: LeavesOf,
) -> _Batch:
    async with borrow() as db:
        found = await entries_found(db, filters, order="oldest", limit=BATCH_ENTRIES)
        named = await named_entries(db, mapper, found.entries)
        positions = [entry.position for entry in found.entries]
        leaves = await leaves_of(db, positions) if form == "jsonl" else {}
    return _Batch(found, await named.shown(vault), leaves)


def _end_row(until: int) -> bytes:
    said = f"end of the export, which covers the log up to position {until}"
    return _csv([[END, *[""] * (len(COLUMNS) - 2), said]])


async def _lines(
    entries: Sequence[StoredEntry],
    shown: Sequence[AuditEntry],
    leaves: Mapping[int, bytes],
) -> bytes:
    lines = []
    pace = Pace()
    for entry, readable in zip(entries, shown, strict=True):
        await pace.pause(len(entry.state))
        lines.append(_line(entry, readable, leaves.get(entry.position)))
    return b"".join(lines)


def _line(entry: StoredEntry, shown: AuditEntry, leaf: bytes | None) -> bytes:
    """Write an entry as people read it, and as the log holds it."""
    readable = {key: shown[key] for key in _READABLE}
    leaf_hash = None if leaf is None else base64.b64encode(leaf).decode()
    return to_json({**recorded(entry), "leaf_hash": leaf_hash, **readable}) + b"\n"


_READABLE: Final = (
    "actor_id",
    "actor",
    "token_id",
    "request_id",
    "trace_id",
    "address",
    "kind",
    "resource",
    "what",
)


async def _rows(shown: Sequence[AuditEntry]) -> bytes:
    rows = []
    pace = Pace()
    for entry in shown:
        rows.append(_csv([_cells(entry)]))
        await pace.pause()
    return b"".join(rows)


def _cells(entry: AuditEntry) -> list[str]:
    cells: dict[str, Any] = {**entry}
    resource = entry["resource"]
    cells["recorded_at"] = entry["recorded_at"].isoformat()
    cells["resource_kind"] = resource["kind"]
    cells["resource_id"] = resource["id"]
    cells["resource_name"] = resource["name"]
    return [_cell(cells[name]) for name in COLUMNS]


def _cell(value: Any) -> str:
    """Escape a value so that no spreadsheet reads it as a formula."""
    text = "" if value is None else str(value)
    return _FORMULA.sub(r"\1'", text)


def _csv(rows: Iterable[Sequence[str]]) -> bytes:
    lines = StringIO()
    csv.writer(lines).writerows(rows)
    return lines.getvalue().encode()
