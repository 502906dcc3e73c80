"""Single aggregates replayed, and compared at two positions or times."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.audit.history.past_log import (
    REFUSED,
    BetweenQuery,
    PastLog,
    open_past_log,
)
from projections.audit.state import (
    Change,
    changes_between,
    kind_of,
    state_of,
)
from service.aggregate import LoggedAggregate
from service.errors import MalformedRequestError, NotFoundError, Problem
from service.http.as_of import At
from service.http.envelope import Answer
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn
from service.http.requests import POSITION_MAX, QueryModel

routes = Routes("audit")


class AggregateQuery(QueryModel):
    at: At | None = None
    version: Annotated[
        int | None,
        Field(
            ge=1,
            le=POSITION_MAX,
            description="The version to replay, instead of a position or time.",
        ),
    ] = None


class ReplayedAggregate(TypedDict):
    """An aggregate's state after its events up to a position.

    The format of ``state`` depends on the version of the service.
    """

    id: UUID
    kind: str
    version: int
    position: int
    created_at: datetime
    changed_at: datetime
    state: dict[str, Any]


class AggregateDifference(TypedDict):
    """Changes between two versions; ``version_before`` is 0 if it didn't exist yet."""

    id: UUID
    kind: str
    since_position: int
    until_position: int
    version_before: int
    version_after: int
    changes: list[Change]


@routes.get(
    "/api/audit/aggregates/{aggregate_id}",
    answers={
        200: "aggregate replayed",
        404: "the log had no such aggregate, or not that version",
        **REFUSED,
        **BUSY,
    },
)
@in_turn
async def get_aggregate(
    request: web.Request, aggregate_id: UUID, query: AggregateQuery
) -> Answer[ReplayedAggregate]:
    """Replay an aggregate: now, at a position or time, or at a version.

    The id is that of an entry's resource. The read is recorded.
    """
    if query.at is not None and query.version is not None:
        raise MalformedRequestError(
            "at and version can't be combined",
            problems=[Problem("version", "can't be combined with at")],
        )
    async with open_past_log(request) as history:
        then = await history.as_of(query.at)
        aggregate = (
            await then.find(LoggedAggregate, aggregate_id)
            if query.version is None
            else await _at_version(history, aggregate_id, query.version)
        )
    if aggregate is None:
        raise NotFoundError("no such aggregate at that position or time")
    data: ReplayedAggregate = {
        "id": aggregate.id,
        "kind": kind_of(aggregate),
        "version": aggregate.version,
        "position": then.position,
        "created_at": aggregate.created_on,
        "changed_at": aggregate.modified_on,
        "state": state_of(aggregate),
    }
    return Answer(
        message="aggregate replayed",
        data=data,
        etag=aggregate.version,
        headers={POSITION_HEADER: str(then.position)},
    )


async def _at_version(
    history: PastLog, aggregate_id: UUID, version: int
) -> LoggedAggregate | None:
    aggregate = await history.snapshots.load(history.db, aggregate_id, upto=version)
    return aggregate if aggregate and aggregate.version == version else None


@routes.get(
    "/api/audit/aggregates/{aggregate_id}/difference",
    answers={
        200: "aggregates compared",
        404: "the log had no such aggregate",
        **REFUSED,
        **BUSY,
    },
)
@in_turn
async def get_aggregate_difference(
    request: web.Request, aggregate_id: UUID, query: BetweenQuery
) -> Answer[AggregateDifference]:
    """Compare an aggregate at two positions or times.

    The read is recorded. `GET /api/audit/events` with this ``resource`` and these
    positions lists who made the changes.
    """
    async with open_past_log(request) as history:
        since, until = await history.between(query)
        before = await since.find(LoggedAggregate, aggregate_id)
        after = await until.find(LoggedAggregate, aggregate_id)
    if after is None:
        raise NotFoundError("no such aggregate at that position or time")
    data: AggregateDifference = {
        "id": aggregate_id,
        "kind": kind_of(after),
        "since_position": since.position,
        "until_position": until.position,
        "version_before": before.version if before else 0,
        "version_after": after.version,
        "changes": [*changes_between(state_of(before), state_of(after))],
    }
    return Answer(message="aggregates compared", data=data)
