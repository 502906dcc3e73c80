"""The filters of the trail."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from service.database import Db
from service.event_log import reader
from service.http.requests import POSITION_MAX, QueryModel
from service.http.times import Timestamp
from service.http.validation_errors import explained

KIND = explained(
    r"^[a-z_]{1,64}(\.[a-z_]{1,64})?$",
    "must be an event type, such as connector.made_public, or an aggregate, such as "
    "connector",
)
REQUEST_ID = explained(
    r"^[A-Za-z0-9._-]{1,64}$", "must be 1 to 64 letters, digits and . _ -"
)
Position = Annotated[int, Field(ge=1, le=POSITION_MAX)]

Actor = Annotated[UUID | None, Field(description="The user who caused it, by id.")]
Kind = Annotated[
    str | None,
    Field(
        pattern=KIND,
        description="An event type, such as `connector.made_public`, or an "
        "aggregate, such as `connector`, for all of its event types.",
    ),
]
Resource = Annotated[
    UUID | None, Field(description="A resource that it is about or names, by id.")
]


class TrailQuery(QueryModel):
    """Filters; an entry has to pass all of them."""

    actor: Actor = None
    kind: Kind = None
    resource: Resource = None
    request_id: Annotated[
        str | None,
        Field(pattern=REQUEST_ID, description="The X-Request-Id that caused it."),
    ] = None
    from_time: Annotated[
        Timestamp | None, Field(description="Recorded at or after this.")
    ] = None
    until_time: Annotated[
        Timestamp | None, Field(description="Recorded before this.")
    ] = None
    from_position: Annotated[
        Position | None, Field(description="At or after this position.")
    ] = None
    until_position: Annotated[
        Position | None, Field(description="At or before this position.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters as the tables have them: times have become positions, both inclusive.

    ``first > last`` where nothing can match.
    """

    first: int
    last: int
    actor: str | None = None
    kind: str | None = None
    resource: UUID | None = None
    request_id: str | None = None

    @property
    def narrows(self) -> bool:
        """Whether anything but positions is filtered."""
        wanted = (self.actor, self.kind, self.resource, self.request_id)
        return any(each is not None for each in wanted)


async def filters_of(db: Db, query: TrailQuery, *, last: int) -> Filters:
    """Translate a query; ``last`` is the position up to which it is answered."""
    first = query.from_position or 1
    last = min(last, query.until_position or last)
    if query.from_time is not None:
        first = max(first, await _first_since(db, query.from_time))
    if query.until_time is not None:
        last = min(last, await _first_since(db, query.until_time) - 1)
    return Filters(
        first=first,
        last=last,
        actor=str(query.actor) if query.actor else None,
        kind=query.kind,
        resource=query.resource,
        request_id=query.request_id,
    )


async def _first_since(db: Db, time: datetime) -> int:
    """Return the first position recorded at or after a time."""
    try:
        before = time - time.resolution
    except OverflowError:
        return 1
    return await reader.position_at(db, before) + 1
