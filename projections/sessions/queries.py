"""Queries for a page of sessions; one statement also returns its position."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import args_row

from projections.sessions import page_statements
from projections.sessions.cursor import Cursor
from projections.sessions.page_statements import TIMES
from projections.sessions.trace_store import SessionKey
from service.database import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """A page of a list.

    ``everything``: not only of what the caller can see. ``tool_calls``: with the
    figures of tool calls, which the gateway records.
    """

    caller: UUID
    everything: bool
    window_start: datetime
    limit: int
    offset: int = 0
    after: Cursor | None = None
    end_time: datetime | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    has_error: bool | None = None
    session_id_prefix: str | None = None
    tool_calls: bool = True

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return the names of the conditions other than the start of the window."""
        is_set = {
            "after": self.after is not None,
            "end_time": self.end_time is not None,
            "agent_id": self.agent_id is not None,
            "user_id": self.user_id is not None,
            "with_error": self.has_error is True,
            "without_error": self.has_error is False,
            "session_id_prefix": self.session_id_prefix is not None,
        }
        return tuple(name for name, applies in is_set.items() if applies)

    @property
    def is_by_time_alone(self) -> bool:
        return self.offset == 0 and TIMES.issuperset(self.conditions)


@dataclass(slots=True)
class SessionRow:
    """A session of the list; its texts are encrypted.

    Made from a statement's columns by position, which takes a fifth of the time that
    names take; a test compares them.
    ``is_erased``: the key of its user is destroyed, even if a cache still holds it.
    """

    id: UUID
    session_id: str
    agent_id: UUID
    user_id: UUID
    started_at: datetime
    has_ended: bool
    last_active_at: datetime
    rendered: str
    input_version: int | None
    sealed_input: str | None
    input_truncated: bool | None
    output_version: int | None
    sealed_output: str | None
    output_truncated: bool | None
    is_erased: bool
    tool_calls: int | None
    tool_call_errors: int | None

    @property
    def key(self) -> SessionKey:
        """Return the session's key for a trace store."""
        return SessionKey(
            session_id=self.session_id,
            agent_id=self.agent_id,
            has_ended=self.has_ended,
            last_active_at=self.last_active_at,
        )


@dataclass(slots=True)
class PageRow(SessionRow):
    """A session of a page; an empty page has one row, with the positions alone.

    ``sessions_position`` is how far sessions are known; the page reflects ``position``,
    which is lower while the follower of another table is behind.
    """

    position: int
    sessions_position: int
    is_empty: bool


async def session_page(db: Db, asked: PageRequest) -> tuple[list[PageRow], int]:
    """Return up to ``limit`` sessions, newest first, and the position they reflect."""
    if asked.is_by_time_alone:
        found, position = await _page(db, full_page_statement(asked), asked)
        if len(found) == asked.limit:
            return found, position
    # Planned for the given values: a rare and a common prefix, or agents with three
    # and with a million sessions, need different plans.
    return await _page(db, page_statement(asked), asked, prepare=False)


async def _page(
    db: Db,
    statement: bytes,
    asked: PageRequest,
    *,
    prepare: bool | None = None,
) -> tuple[list[PageRow], int]:
    async with db.cursor(row_factory=args_row(PageRow)) as cursor:
        await cursor.execute(statement, page_parameters(asked), prepare=prepare)
        rows = await cursor.fetchall()
    return [row for row in rows if not row.is_empty], rows[0].position


def full_page_statement(asked: PageRequest) -> bytes:
    """Return the statement for a page that sessions started in the window fill."""
    return page_statements.full_page(
        asked.conditions,
        everything=asked.everything,
        limit=asked.limit,
        tool_calls=asked.tool_calls,
    )


def page_statement(asked: PageRequest) -> bytes:
    return page_statements.page(
        asked.conditions, everything=asked.everything, tool_calls=asked.tool_calls
    )


def page_parameters(asked: PageRequest) -> dict[str, object]:
    prefix = asked.session_id_prefix
    after = asked.after
    return {
        "caller": asked.caller,
        "window_start": asked.window_start,
        "limit": asked.limit,
        "offset": asked.offset,
        "reach": asked.offset + asked.limit,
        "after_start": after and after.started_at,
        "after_id": after and after.id,
        "after_position": after and after.position,
        "end_time": asked.end_time,
        "agent_id": asked.agent_id,
        "user_id": asked.user_id,
        "session_id_prefix": prefix and _like(prefix),
    }


def _like(prefix: str) -> str:
    escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped + "%"
