"""One session with its turns over HTTP."""

import time
from collections import deque
from datetime import UTC
from io import BytesIO
from typing import Annotated, Any

from aiohttp import web
from pydantic import Field

from projections.engine.snapshot import reading
from projections.sessions.page_statements import HAS_TOOL_CALLS, followers_read
from projections.sessions.rendering import rendered
from projections.sessions.resource import (
    UNKNOWN_TOOL_CALLS,
    SessionWithTurns,
    ShownTurn,
    ToolCallFigures,
)
from projections.sessions.table import TurnRow
from projections.sessions.texts import TextOpener, first_and_last
from projections.sessions.trace_store import TRACES
from projections.sessions.turn_queries import (
    session_turns,
    turn_tool_calls,
    visible_session,
)
from service.audit.text_readings import TEXT_READINGS
from service.errors import NotFoundError
from service.http.app_keys import VAULT
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer, to_json
from service.http.operation import Routes
from service.http.requests import QueryModel
from service.pacing import Pace
from service.sessions.aggregate import TURNS_MAX, ChatSession
from service.sessions.cost import costs_differ
from service.sessions.ids import SessionId

routes = Routes("observability")

PAGE_SIZE_DEFAULT = 25
PAGE_SIZE_MAX = 100


class SessionQuery(QueryModel):
    """The turns of the session that are asked for."""

    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE_DEFAULT
    offset: Annotated[int, Field(ge=0, le=TURNS_MAX)] = 0


@routes.get(
    "/api/observability/session/{session_id}",
    answers={200: "session", 404: "no such session, or none that the caller can see"},
    data=SessionWithTurns,
    min_position=True,
)
async def get_session(
    request: web.Request, session_id: SessionId, query: SessionQuery
) -> Answer[Any]:
    """Get a session with its turns.

    The session as in the list, and its turns by start time with their full texts. Texts
    are null once their user's key was destroyed. Reading another user's session is
    recorded in the audit trail.
    """
    began_at = time.monotonic()
    principal = request[PRINCIPAL]
    has_tool_calls = request.app[HAS_TOOL_CALLS]
    followers = followers_read(tool_calls=has_tool_calls)
    async with reading(request, *followers) as snapshot:
        row = await visible_session(
            snapshot.db,
            ChatSession.create_id(session_id),
            caller=principal.user_id,
            everything=principal.sees_everything,
            tool_calls=has_tool_calls,
        )
        if row is None:
            raise NotFoundError("no such session")
        found = await session_turns(
            snapshot.db, row.id, offset=query.offset, limit=query.limit + 1
        )
        tool_calls = (
            await turn_tool_calls(snapshot.db, row, found) if has_tool_calls else {}
        )
    # A page without turns still shows the session's first and last text.
    has_texts = found or row.sealed_input or row.sealed_output
    if has_texts and not row.is_erased:
        await request.app[TEXT_READINGS].record(request, {row.id: row.user_id})
    vault = request.app[VAULT]
    enriched = await request.app[TRACES].of([row.key], page_began_at=began_at)
    session = rendered(row, *await first_and_last(vault, row), enriched)
    # The texts are many megabytes: copied once, and each turn is let go of when it is
    # written.
    waiting, has_more = deque(found[: query.limit]), len(found) > query.limit
    found.clear()
    body = BytesIO()
    body.write(b'{"data":%b,"turns":[' % session[:-1])
    pace = Pace()
    while waiting:
        turn = waiting.popleft()
        figures = tool_calls.get(turn.trace_id, UNKNOWN_TOOL_CALLS)
        each = await _shown(turn, TextOpener(vault, row), figures)
        body.write(to_json(each))
        body.write(b"," if waiting else b"")
        await pace.pause()
    end = to_json({"message": "session", "status_code": 200})
    body.write(b'],"has_more_turns":%b},' % to_json(has_more))
    body.write(end[1:])
    return Answer(
        message="session",
        data=None,
        body=body.getvalue(),
        headers=snapshot.headers,
    )


async def _shown(
    turn: TurnRow, opener: TextOpener, tool_calls: ToolCallFigures
) -> ShownTurn:
    async def text(sealed: str | None, field: str) -> str | None:
        return await opener.open(sealed, version=turn.version, field=field)

    cost: Any = turn.cost
    reported_cost: Any = turn.reported_cost
    unpriced: Any = turn.unpriced
    return {
        "turn_id": turn.turn_id,
        "trace_id": turn.trace_id,
        "start_time": turn.started_at.astimezone(UTC),
        "end_time": turn.ended_at.astimezone(UTC),
        "latency_ms": turn.latency_us / 1000,
        "provider": turn.provider,
        "model": turn.model,
        "token_usage": {
            "total": _total(turn.prompt_tokens, turn.completion_tokens),
            "prompt": turn.prompt_tokens,
            "completion": turn.completion_tokens,
            "cache_read": turn.cache_read_tokens,
            "cache_creation": turn.cache_creation_tokens,
        },
        "cost": cost,
        "currency": turn.currency,
        "price_id": turn.price_id,
        "priced_as": turn.priced_as,
        "pricing_rule": turn.pricing_rule,
        "unpriced": unpriced,
        "contract_id": turn.contract_id,
        "list_cost": turn.list_cost,
        "list_currency": turn.list_currency,
        "priced_at": turn.priced_at.astimezone(UTC),
        "reported_cost": reported_cost,
        "reported_cost_differs": costs_differ(
            turn.cost,
            turn.currency,
            turn.reported_cost,
            list_cost=turn.list_cost,
            list_currency=turn.list_currency,
        ),
        "estimated": turn.estimated.split(",") if turn.estimated else [],
        "is_error": turn.is_error,
        "error": await text(turn.sealed_error, "error"),
        "input": await text(turn.sealed_input, "input"),
        "input_truncated": turn.input_truncated,
        "output": await text(turn.sealed_output, "output"),
        "output_truncated": turn.output_truncated,
        **tool_calls,
    }


def _total(prompt: int | None, completion: int | None) -> int | None:
    return None if prompt is None or completion is None else prompt + completion
