"""The audit trail over HTTP: pages and exports."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final

from aiohttp import hdrs, web
from pydantic import Field
from typing_extensions import TypedDict

from projections.audit.entry_json import recorded
from projections.audit.state import Change
from projections.audit.trail.changes import changes_at
from projections.audit.trail.entry import AuditEntry, named_entries
from projections.audit.trail.export import LEAVES, Format, export
from projections.audit.trail.filters import (
    Filters,
    Position,
    TrailQuery,
    filters_of,
)
from projections.audit.trail.queries import Order, entries_found
from projections.engine.snapshot import (
    lender,
    reading,
    reading_log,
    snapshot_of,
    wait_for_followers,
)
from service.audit.record import may_still_read, record_reading
from service.errors import NotFoundError
from service.event_log import reader
from service.event_log.stored_entries import entries_between
from service.http.app_keys import EVENT_LOG, VAULT
from service.http.envelope import Answer
from service.http.log_epoch import EPOCH_HEADER, POSITION_HEADER
from service.http.operation import Routes
from service.http.read_server import read_server
from service.http.replays import BUSY, in_turn
from service.http.requests import min_position
from service.http.streaming import FULL, STREAMS
from service.unavailable import until_answered

routes = Routes("audit", "The audit trail: who changed what and when, with proofs.")

FOLLOWER: Final = "audit_trail"
REFUSED: Final = {403: "the caller is neither superuser nor auditor"}
CONTENT_TYPES: Final[Mapping[Format, str]] = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv",
}


class TrailPageQuery(TrailQuery):
    order: Annotated[Order, Field(description="Which entries come first.")] = "newest"
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    after: Annotated[
        Position | None, Field(description="`end_cursor` of the page before.")
    ] = None


class AuditPage(TypedDict):
    """One page of entries; ``end_cursor`` is null on the last one."""

    entries: list[AuditEntry]
    end_cursor: int | None


class WholeEntry(AuditEntry):
    """An entry with everything that the log holds of it, exactly as stored.

    ``changes`` are the differences between the resource before and after the event, as
    in a comparison of the aggregate; null if its events can't be read.
    """

    changes: list[Change] | None
    recorded: dict[str, Any]


@routes.get(
    "/api/audit/events",
    answers={200: "audit trail", **REFUSED},
    min_position=True,
)
async def get_audit_events(
    request: web.Request, query: TrailPageQuery
) -> Answer[AuditPage]:
    """List the audit trail, newest first.

    For superusers and auditors. Entries never change or move, so cursors stay valid.
    A page of large entries has fewer than `limit`, and an `end_cursor`.
    The request itself is recorded as `audit.read` before it is answered; use the stream
    to receive new entries.
    """
    await record_reading(request)
    log = request.config_dict[EVENT_LOG]
    async with reading(request, FOLLOWER) as snapshot:
        filters = await filters_of(snapshot.db, query, last=snapshot.position)
        filters = _behind(filters, query)
        found = await entries_found(
            snapshot.db, filters, order=query.order, limit=query.limit
        )
        named = await named_entries(snapshot.db, log.mapper, found.entries)
    entries = await named.shown(request.config_dict[VAULT])
    return Answer(
        message="audit trail",
        data=AuditPage(entries=entries, end_cursor=found.reached),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/audit/events/{position}",
    answers={
        200: "audit entry",
        404: "the log has no such position",
        **REFUSED,
        **BUSY,
    },
)
@in_turn
async def get_audit_event(
    request: web.Request, position: Position
) -> Answer[WholeEntry]:
    """Get one entry with its recorded fields, and the resource before and after.

    For superusers and auditors. The read is recorded.
    """
    recorded_at = await record_reading(request)
    async with reading_log(request, recorded_at) as db:
        found = await entries_between(db, after=position - 1, upto=position, limit=1)
        if not found:
            raise NotFoundError("the log has no such position")
        log = request.config_dict[EVENT_LOG]
        named = await named_entries(db, log.mapper, found)
        changes = await changes_at(db, log.snapshots, found[0])
    (entry,) = await named.shown(request.config_dict[VAULT])
    data = WholeEntry(**entry, changes=changes, recorded=recorded(found[0]))
    return Answer(message="audit entry", data=data)


@routes.get(
    "/api/audit/export.jsonl",
    answers={200: "the entries, one JSON object a line", **REFUSED, **FULL},
    content_type=CONTENT_TYPES["jsonl"],
    min_position=True,
)
async def get_audit_jsonl(
    request: web.Request, query: TrailQuery
) -> web.StreamResponse:
    """Export the audit trail as JSON Lines, oldest first.

    Unlimited. Each line also contains the entry exactly as recorded and its leaf in the
    Merkle tree: an export without filters is the input of `agent-runtime audit verify`.
    The last line is `{"end":{"until_position":N}}`: an export without it was cut off.
    The read is recorded once.
    """
    return await _export(request, query, "jsonl")


@routes.get(
    "/api/audit/export.csv",
    answers={200: "the entries, one a row", **REFUSED, **FULL},
    content_type=CONTENT_TYPES["csv"],
    min_position=True,
)
async def get_audit_csv(request: web.Request, query: TrailQuery) -> web.StreamResponse:
    """Export the audit trail as CSV for spreadsheets, oldest first.

    Unlimited. A cell that a spreadsheet could take for a formula starts with an
    apostrophe. The last row starts with `end`: an export without it was cut off. The
    read is recorded once.
    """
    return await _export(request, query, "csv")


async def _export(
    request: web.Request, query: TrailQuery, form: Format
) -> web.StreamResponse:
    recorded_at = await record_reading(request)
    if (wanted := min_position(request)) is not None:
        await wait_for_followers(request, [FOLLOWER], wanted)
    async with reading_log(request, recorded_at) as db:
        reflected, _ = await reader.head(db)
        filters = await filters_of(db, query, last=reflected)
    if filters.narrows:
        async with snapshot_of(read_server(request), FOLLOWER) as snapshot:
            reflected = min(reflected, snapshot.position)
            filters = replace(filters, last=min(filters.last, reflected))
    headers = {
        POSITION_HEADER: str(reflected),
        EPOCH_HEADER: str(request.config_dict[EVENT_LOG].epoch),
        "Content-Disposition": f'attachment; filename="audit.{form}"',
    }
    if request.method == hdrs.METH_HEAD:
        return web.Response(content_type=CONTENT_TYPES[form], headers=headers)
    mapper = request.config_dict[EVENT_LOG].mapper
    streams = request.config_dict[STREAMS]
    async with streams.open(request, CONTENT_TYPES[form], headers) as stream:
        vault = request.config_dict[VAULT]
        followers = [FOLLOWER] if filters.narrows else []
        borrow = lender(request, reflected, *followers)
        leaves_of = request.config_dict[LEAVES]
        batches = export(
            borrow, mapper, filters, form, leaves_of, vault, until_answered
        )
        may_read = partial(may_still_read, request)
        async for exported in batches:
            if not await until_answered(may_read):
                stream.abort()
            await stream.write(exported.lines)
    return stream.response


def _behind(filters: Filters, query: TrailPageQuery) -> Filters:
    """Leave out what earlier pages have shown."""
    if query.after is None:
        return filters
    if query.order == "oldest":
        return replace(filters, first=max(filters.first, query.after + 1))
    return replace(filters, last=min(filters.last, query.after - 1))
