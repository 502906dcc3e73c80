"""Operation 4 over HTTP: the list of sessions."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from aiohttp import web
from typing_extensions import TypedDict

from projections.engine.snapshot import read_once, refuse_older
from projections.sessions.cursor import Cursor
from projections.sessions.page_statements import HAS_TOOL_CALLS, followers_read
from projections.sessions.parameters import SessionListQuery
from projections.sessions.queries import PageRequest, PageRow, session_page
from projections.sessions.rendering import count_agents, rendered
from projections.sessions.resource import Session
from projections.sessions.texts import first_and_last, users_of_texts
from projections.sessions.trace_store import TRACES
from service.audit.text_readings import TEXT_READINGS
from service.errors import MalformedRequestError, Problem
from service.http.app_keys import VAULT
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.pacing import Pace
from service.principal import Principal

routes = Routes("observability")


class Pagination(TypedDict):
    has_next_page: bool
    end_cursor: str | None


class SessionList(TypedDict):
    sessions: list[Session]
    pagination: Pagination
    total_agents: int
    successful_agents: int


@routes.get(
    "/api/observability/session/list",
    answers={200: "sessions in the window"},
    data=SessionList,
    min_position=True,
)
async def get_session_list(
    request: web.Request, query: SessionListQuery
) -> Answer[Any]:
    """List sessions, newest first.

    The caller's own sessions and those of agents that the caller manages; all sessions
    for superusers and auditors. The time window selects sessions whose last activity is
    at or after `start_time`. Reading texts of other users' sessions is recorded in the
    audit trail. Ordered by `start_time`, then `id`, descending. Unknown
    figures are null, never 0. Texts are null once their user's key was destroyed.

    `has_next_page` tells whether there are more sessions. Pass `end_cursor` as `after`
    to get the next page; new sessions don't shift it. A configured trace store adds
    annotations, their summaries, and figures that this service doesn't have;
    `successful_agents` counts the agents whose sessions were all looked up in it.
    """
    began_at = time.monotonic()
    has_tool_calls = request.app[HAS_TOOL_CALLS]
    asked = _asked(query, request[PRINCIPAL], tool_calls=has_tool_calls)
    followers = followers_read(tool_calls=has_tool_calls)
    async with read_once(request, *followers, min_position=query.min_position) as db:
        found, position = await session_page(db, asked)
        refuse_older(request, position)
    rows = found[: query.limit]
    await request.app[TEXT_READINGS].record(request, users_of_texts(rows))
    enriched = await request.app[TRACES].of(
        (row.key for row in rows), page_began_at=began_at
    )
    vault = request.app[VAULT]
    successful, total = count_agents(rows, enriched)
    sessions = []
    pace = Pace()
    for row in rows:
        texts = await first_and_last(vault, row)
        sessions.append(orjson.Fragment(rendered(row, *texts, enriched)))
        await pace.pause()
    return Answer(
        message="sessions in the window",
        data={
            "sessions": sessions,
            "pagination": {
                "has_next_page": len(found) > query.limit,
                "end_cursor": _end_cursor(rows, asked),
            },
            "total_agents": total,
            "successful_agents": successful,
        },
        headers={POSITION_HEADER: str(position)},
    )


def _asked(
    query: SessionListQuery, principal: Principal, *, tool_calls: bool
) -> PageRequest:
    window_start = query.window_start(datetime.now(UTC))
    if query.end_time is not None and query.end_time <= window_start:
        raise MalformedRequestError(
            "the window of time ends at or before its start",
            problems=[Problem("end_time", "must be after the window's start")],
        )
    return PageRequest(
        caller=principal.user_id,
        everything=principal.sees_everything,
        tool_calls=tool_calls,
        window_start=window_start,
        # One more, to know whether there is a next page.
        limit=query.limit + 1,
        offset=query.offset,
        after=query.after,
        end_time=query.end_time,
        agent_id=query.agent_id,
        user_id=query.user_id,
        has_error=query.has_error,
        session_id_prefix=query.session_id_prefix,
    )


def _end_cursor(rows: Sequence[PageRow], asked: PageRequest) -> str | None:
    if not rows:
        return None
    last = rows[-1]
    cursor = Cursor(
        started_at=last.started_at,
        id=last.id,
        position=asked.after.position if asked.after else last.sessions_position,
        window_start=asked.window_start,
    )
    return cursor.to_text()
