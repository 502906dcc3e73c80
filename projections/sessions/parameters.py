"""Query parameters of the session list."""

from datetime import datetime, timedelta
from typing import Annotated, Self
from uuid import UUID

from pydantic import (
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from projections.sessions.cursor import Cursor, cursor_from_text
from service.http.requests import POSITION_MAX, QueryModel
from service.http.times import Timestamp
from service.http.validation_errors import explained, fault_at
from service.sessions.ids import ID_CHARACTERS_MAX

WINDOW_DEFAULT = timedelta(days=7)
PAGE_SIZE_DEFAULT = 25
PAGE_SIZE_MAX = 100
# As far as PostgreSQL can count, with room for a page.
OFFSET_MAX = 2**62
PREFIX_PATTERN = explained(
    r"^[^\x00-\x1f\x7f-\x9f]+$", "must be the first characters of an id, at least one"
)


def _cursor(text: str) -> Cursor:
    return cursor_from_text(text)


PageCursor = Annotated[
    Cursor,
    PlainValidator(_cursor),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_-]{55}$"}),
]


class SessionListQuery(QueryModel):
    """Filters of the list, and the page asked for.

    `start_time` opens the window: a session is in it when its last activity is at
    or after that time, by default 7 days before now. `end_time` closes it:
    sessions that started before. `after` is the `end_cursor` of the page before;
    the other parameters are repeated with it.
    """

    start_time: Timestamp | None = None
    end_time: Timestamp | None = None
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE_DEFAULT
    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX)] = 0
    after: PageCursor | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    has_error: bool | None = None
    session_id_prefix: (
        Annotated[str, Field(max_length=ID_CHARACTERS_MAX, pattern=PREFIX_PATTERN)]
        | None
    ) = None
    min_position: Annotated[int, Field(ge=0, le=POSITION_MAX)] | None = None

    @model_validator(mode="after")
    def _window_is_not_empty(self) -> Self:
        if self.start_time and self.end_time and self.end_time <= self.start_time:
            raise fault_at("end_time", "must be after start_time")
        return self

    def window_start(self, now: datetime) -> datetime:
        """Return the window's start: as given, as the cursor's, or 7 days ago."""
        if self.start_time is not None:
            return self.start_time
        if self.after is not None:
            return self.after.window_start
        return now - WINDOW_DEFAULT
