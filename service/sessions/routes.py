"""The session commands over HTTP."""

from functools import partial
from typing import Annotated
from urllib.parse import quote
from uuid import UUID, uuid4

from aiohttp import web
from pydantic import Field

from service.http.app_keys import VAULT
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import RequestModel
from service.http.times import Timestamp
from service.sessions.aggregate import ChatSession
from service.sessions.commands import (
    EndSession,
    RecordTurns,
    StartSession,
    end_session,
    record_turns,
    start_session,
)
from service.sessions.ids import ClientId, SessionId
from service.sessions.resource import (
    SessionResource,
    TurnReceipt,
    session_resource,
    turn_receipt,
)
from service.sessions.turn import TOKENS_MAX, Texts, TokenCounts, Turn

routes = Routes(
    "observability", "Sessions of agents with their turns, tokens and cost."
)

Tokens = Annotated[int, Field(ge=0, le=TOKENS_MAX)]


class NewSession(RequestModel):
    agent_id: UUID
    session_id: SessionId | None = None
    user_id: UUID | None = None
    started_at: Timestamp | None = None


class NewTurn(RequestModel):
    """Token counts of caches are part of ``prompt_tokens``."""

    turn_id: ClientId
    trace_id: ClientId | None = None
    started_at: Timestamp
    ended_at: Timestamp
    provider: ClientId | None = None
    model: ClientId | None = None
    prompt_tokens: Tokens | None = None
    completion_tokens: Tokens | None = None
    cache_read_tokens: Tokens | None = None
    cache_creation_tokens: Tokens | None = None
    is_error: bool = False
    error: str | None = None
    input: str | None = None
    output: str | None = None

    def turn(self) -> Turn:
        return Turn(
            turn_id=self.turn_id,
            trace_id=self.trace_id,
            started_at=self.started_at,
            ended_at=self.ended_at,
            provider=self.provider,
            model=self.model,
            tokens=TokenCounts(
                prompt=self.prompt_tokens,
                completion=self.completion_tokens,
                cache_read=self.cache_read_tokens,
                cache_creation=self.cache_creation_tokens,
            ),
            is_error=self.is_error,
            texts=Texts(input=self.input, output=self.output, error=self.error),
        )


class SessionEnd(RequestModel):
    ended_at: Timestamp | None = None


@routes.post(
    "/api/observability/session",
    answers={
        201: "session started",
        200: "session was already started",
        403: "the caller may not record for this agent and user",
        409: "the id is taken by a session of another agent or user "
        "(`session_id_taken`)",
        422: "no such agent or user, or a start in the future",
    },
    body_example={
        "agent_id": "6f2d2f4e-94a2-4a2e-8a52-3b0c6f4b8a10",
        "session_id": "chat-2026-03-01-17",
    },
)
async def post_session(
    request: web.Request, body: NewSession
) -> Answer[SessionResource]:
    """Start a session.

    Without a `session_id` the service chooses one. A caller with the role `runtime`
    records for any agent and may name the user; a manager of the agent records their
    own sessions.
    """
    session_id = body.session_id or str(uuid4())

    def present(result: tuple[ChatSession, bool]) -> Answer[SessionResource]:
        session, is_new = result
        return Answer(
            status=201 if is_new else 200,
            message="session started" if is_new else "session was already started",
            data=session_resource(session),
            headers={
                "Location": "/api/observability/session/"
                + quote(session.session_id, safe="")
            },
        )

    return await dispatch(
        request,
        start_session,
        StartSession(
            session_id=session_id,
            agent_id=body.agent_id,
            user_id=body.user_id,
            started_at=body.started_at,
        ),
        present,
    )


@routes.post(
    "/api/observability/session/{session_id}/turns",
    answers={
        201: "turn recorded",
        200: "turn was already recorded",
        403: "the caller may not record in this session",
        404: "no such session, or none that the caller can see",
        409: "the session has the maximum number of turns (`session_full`)",
    },
    body_example={
        "turn_id": "turn-1",
        "started_at": "2026-03-01T12:00:00Z",
        "ended_at": "2026-03-01T12:00:02.5Z",
        "provider": "openai",
        "model": "gpt-4o-mini",
        "prompt_tokens": 1200,
        "completion_tokens": 80,
        "input": "Which of my issues are due?",
        "output": "Two are due today.",
    },
)
async def post_turn(
    request: web.Request, session_id: SessionId, body: NewTurn
) -> Answer[TurnReceipt]:
    """Record a turn of a session.

    A repeated turn id changes nothing. Turns may arrive late and in any order, also
    after the end of the session. Texts over 64 KiB are truncated and marked as such.
    The cost is computed from the model's price at `started_at`.
    """
    vault = request.app[VAULT]

    def present(result: tuple[ChatSession, list[bool]]) -> Answer[TurnReceipt]:
        session, (is_new,) = result
        return Answer(
            status=201 if is_new else 200,
            message="turn recorded" if is_new else "turn was already recorded",
            data=turn_receipt(session, body.turn_id),
        )

    return await dispatch(
        request,
        partial(record_turns, vault=vault),
        RecordTurns(session_id=session_id, turns=[body.turn()]),
        present,
    )


@routes.post(
    "/api/observability/session/{session_id}/end",
    answers={
        200: "session ended, or had already ended",
        403: "the caller may not record in this session",
        404: "no such session, or none that the caller can see",
    },
    body_example={},
)
async def post_session_end(
    request: web.Request, session_id: SessionId, body: SessionEnd
) -> Answer[SessionResource]:
    """End a session, now or at a given time.

    Late turns can still be recorded.
    """

    def present(result: tuple[ChatSession, bool]) -> Answer[SessionResource]:
        session, changed = result
        return Answer(
            message="session ended" if changed else "session had already ended",
            data=session_resource(session),
        )

    return await dispatch(
        request,
        end_session,
        EndSession(session_id=session_id, ended_at=body.ended_at),
        present,
    )
