"""A session as its commands answer with it."""

from datetime import UTC, datetime
from uuid import UUID

from typing_extensions import TypedDict

from service.sessions.aggregate import ChatSession


class SessionResource(TypedDict):
    id: UUID
    session_id: str
    agent_id: UUID
    user_id: UUID
    started_at: datetime
    ended_at: datetime | None
    turns: int
    version: int


class TurnReceipt(TypedDict):
    session_id: str
    turn_id: str
    turns: int
    version: int


def session_resource(session: ChatSession) -> SessionResource:
    return {
        "id": session.id,
        "session_id": session.session_id,
        "agent_id": UUID(session.agent_id),
        "user_id": UUID(session.user_id),
        "started_at": _utc(session.started_at),
        "ended_at": _utc(session.ended_at) if session.ended_at else None,
        "turns": session.turns,
        "version": session.version,
    }


def turn_receipt(session: ChatSession, turn_id: str) -> TurnReceipt:
    return {
        "session_id": session.session_id,
        "turn_id": turn_id,
        "turns": session.turns,
        "version": session.version,
    }


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
