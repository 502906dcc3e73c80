"""The audit trail as it happens, over HTTP."""

import re
from functools import partial
from typing import Annotated, Final

from aiohttp import web
from pydantic import Field

from projections.audit.trail.filters import Actor, Filters, Kind, Resource
from projections.audit.trail.live import HEARTBEAT, HEARTBEAT_S, Tail
from service.audit.record import may_still_read, record_reading
from service.errors import (
    MalformedRequestError,
    PreconditionFailedError,
    Problem,
)
from service.http.app_keys import EVENT_LOG, VAULT
from service.http.log_epoch import EPOCH_HEADER, POSITION_HEADER
from service.http.operation import EVENT_STREAM, Routes
from service.http.read_server import READ_SERVERS
from service.http.requests import POSITION_MAX, QueryModel
from service.http.streaming import FULL, STREAMS, Stream
from service.unavailable import until_answered

routes = Routes("audit")

LAST_EVENT_ID: Final = "Last-Event-ID"
_POSITION: Final = re.compile(r"[0-9]{1,18}")


class StreamQuery(QueryModel):
    """Filters as in the list."""

    actor: Actor = None
    kind: Kind = None
    resource: Resource = None
    after: Annotated[
        int | None,
        Field(
            ge=0,
            le=POSITION_MAX,
            description="Start after this position; without it, with the next event.",
        ),
    ] = None


@routes.get(
    "/api/audit/stream",
    answers={
        200: "entries as server-sent events",
        403: "the caller is neither superuser nor auditor",
        412: "the log hasn't reached the position to go on from "
        "(`position_beyond_log`)",
        **FULL,
    },
    content_type=EVENT_STREAM,
)
async def get_audit_stream(
    request: web.Request, query: StreamQuery
) -> web.StreamResponse:
    """Follow the audit trail by server-sent events.

    Each event's id is its position; `X-Event-Position` is the one it begins behind.
    `Last-Event-ID` resumes after that position and overrides ``after``. Comments keep
    an idle connection open. A client that reads too slowly is disconnected and can
    resume. The stream ends when the service stops, and when the caller's token or role
    is revoked, the token expires or the user is disabled. The read is recorded once.
    """
    start = _last_event_id(request)
    if start is None:
        start = query.after
    opened_at = await record_reading(request)
    if start is not None and start > opened_at:
        raise PreconditionFailedError(
            f"the log ends at position {opened_at}", code="position_beyond_log"
        )
    filters = Filters(
        first=(opened_at if start is None else start) + 1,
        last=opened_at,
        actor=str(query.actor) if query.actor else None,
        kind=query.kind,
        resource=query.resource,
    )
    log = request.config_dict[EVENT_LOG]
    streams = request.config_dict[STREAMS]
    # The notifier's commits are the primary's.
    primary = request.config_dict[READ_SERVERS].primary
    tail = Tail(log, primary, request.config_dict[VAULT], filters)
    headers = {
        POSITION_HEADER: str(filters.first - 1),
        EPOCH_HEADER: str(log.epoch),
        # nginx would keep events until it has many.
        "X-Accel-Buffering": "no",
    }
    async with streams.open(request, EVENT_STREAM, headers) as stream:
        with log.notifier.subscribe() as committed, streams.notify_on_close(committed):
            await stream.write(HEARTBEAT)

            async def meanwhile() -> None:
                if streams.are_closing:
                    stream.abort()
                await _keep_alive(stream)

            may_read = partial(may_still_read, request)
            send_batch = partial(tail.send_batch, stream)
            while not streams.are_closing and await until_answered(may_read, meanwhile):
                has_more = await until_answered(send_batch, meanwhile)
                await _keep_alive(stream)
                if not has_more:
                    await tail.wait(committed, HEARTBEAT_S)
    return stream.response


async def _keep_alive(stream: Stream) -> None:
    if stream.idle_s >= HEARTBEAT_S:
        await stream.write(HEARTBEAT)


def _last_event_id(request: web.Request) -> int | None:
    given = request.headers.get(LAST_EVENT_ID)
    if given is None:
        return None
    if not _POSITION.fullmatch(given):
        raise MalformedRequestError(
            f"{LAST_EVENT_ID} takes the id of an earlier event, a position",
            problems=[Problem(LAST_EVENT_ID, "not a position")],
        )
    return int(given)
