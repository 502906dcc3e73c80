"""Find the recorded turns to reprice, a page at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from service.sessions.recorded_calls import RecordedTurn

PAGE_TURNS: Final = 500
# A page ends after the turn with this model call: a turn may have thousands.
PAGE_CALLS: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPosition:
    """The end of a page of turns, in the order of their starts."""

    started_at: datetime
    session: UUID
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFilter:
    """The turns that start in a half-open period; None doesn't filter."""

    from_time: datetime
    until_time: datetime
    agent_id: UUID | None = None
    provider: str | None = None
    model: str | None = None
    after: TurnPosition | None = None


@dataclass(frozen=True, slots=True)
class SessionTurns:
    """Turns of a session, as it was at ``version``."""

    session: UUID
    version: int
    agent_id: UUID
    turns: list[RecordedTurn]


@dataclass(frozen=True, slots=True)
class TurnPage:
    """Turns by session; ``last`` is None if there are no more."""

    sessions: Sequence[SessionTurns]
    last: TurnPosition | None
