"""The log as of past positions, lent to a request whose reading is recorded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web

from projections.engine.snapshot import reading_log, wait_for_followers
from projections.engine.time_travel import AsOf, as_of, beyond_the_log
from service.audit.record import record_reading
from service.database import Db
from service.errors import MalformedRequestError, Problem
from service.event_log.mapper import EventMapper
from service.event_log.snapshots import Snapshots
from service.http.app_keys import EVENT_LOG
from service.http.as_of import At
from service.http.requests import QueryModel

REFUSED: Final = {403: "the caller is neither superuser nor auditor"}


class BetweenQuery(QueryModel):
    """Two positions or times; without ``until`` the later one is now."""

    since: At
    until: At | None = None


@dataclass(frozen=True, slots=True)
class PastLog:
    """The log on one connection; ``head`` is where the reading was recorded."""

    db: Db
    mapper: EventMapper
    snapshots: Snapshots
    head: int

    async def as_of(self, at: At | None) -> AsOf:
        """Return the log as of a position or time, at most as of the reading.

        :raises MalformedRequestError: the log had not reached that position
        """
        asked = self.head if at is None else at
        then = await as_of(self.db, self.mapper, asked, self.snapshots)
        if then.position <= self.head:
            return then
        if isinstance(at, int):
            raise beyond_the_log(self.head)
        return replace(then, position=self.head)

    async def between(self, query: BetweenQuery) -> tuple[AsOf, AsOf]:
        """Return the log as of both.

        :raises MalformedRequestError: the first is later than the second
        """
        since, until = await self.as_of(query.since), await self.as_of(query.until)
        if since.position > until.position:
            raise MalformedRequestError(
                "since must not be later than until",
                problems=[Problem("since", "later than until")],
            )
        return since, until


@asynccontextmanager
async def open_past_log(
    request: web.Request, *followers: str
) -> AsyncIterator[PastLog]:
    """Record the reading, then lend the log, and what followers have built of it.

    :raises UnavailableError: they don't get that far in time
    """
    recorded_at = await record_reading(request)
    if followers:
        # The reading itself changes nothing that they build.
        await wait_for_followers(request, followers, recorded_at - 1)
    async with reading_log(request, recorded_at, *followers) as db:
        log = request.config_dict[EVENT_LOG]
        yield PastLog(db, log.mapper, log.snapshots, recorded_at)
