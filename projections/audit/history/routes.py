"""Replaying single things over HTTP: as they were, and what differs."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.audit.history.decisions import (
    DecisionsDifference,
    FactsThen,
    differences,
)
from projections.audit.history.exposure import Exposure, end_with_agent, exposure
from projections.audit.history.state import (
    Change,
    changes_between,
    kind_of,
    state_of,
)
from projections.engine.snapshot import reading_log
from projections.engine.time_travel import AsOf, as_of
from projections.tool_rules.definitions_then import DefinitionsThen, definitions_then
from projections.tool_rules.origins import (
    HoldingThen,
    RulesThen,
    holding_then,
    retirement_of,
    rules_then,
)
from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.audit.record import record_reading
from service.database import Db
from service.errors import MalformedRequestError, NotFoundError, Problem
from service.event_log import aggregate_reader, reader
from service.event_log.mapper import EventMapper
from service.gateway.definitions.aggregate import ToolDefinitions
from service.http.app_keys import EVENT_LOG
from service.http.as_of import At
from service.http.envelope import Answer
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.requests import POSITION_MAX, QueryModel
from service.tool_rules.aggregate import ToolRules

routes = Routes("audit")

REFUSED: Final = {403: "the caller is neither superuser nor auditor"}
TOOLS_CHARACTERS_MAX: Final = 2000


class AggregateQuery(QueryModel):
    at: At | None = None
    version: Annotated[int | None, Field(ge=1, le=POSITION_MAX)] = None


class BetweenQuery(QueryModel):
    """Two moments, each a position or a time; without ``until`` it is now."""

    since: At
    until: At | None = None


class DecisionsQuery(BetweenQuery):
    tools: Annotated[
        str,
        Field(
            max_length=TOOLS_CHARACTERS_MAX,
            description="Names of tools to try as well, separated by commas.",
        ),
    ] = ""


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


@dataclass(frozen=True, slots=True)
class _History:
    """One connection, and the end of the log when it was asked for."""

    db: Db
    mapper: EventMapper
    head: int

    async def as_of(self, at: At | None) -> AsOf:
        return await as_of(self.db, self.mapper, self.head if at is None else at)

    async def between(self, query: BetweenQuery) -> tuple[AsOf, AsOf]:
        """Return both moments.

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
async def _history(request: web.Request) -> AsyncIterator[_History]:
    """Put the reading on record and lend what it needs."""
    recorded_at = await record_reading(request)
    async with reading_log(request, recorded_at) as db:
        head, _ = await reader.head(db)
        yield _History(db, request.config_dict[EVENT_LOG].mapper, head)


@routes.get(
    "/api/audit/aggregates/{aggregate_id}",
    answers={
        200: "aggregate replayed",
        404: "the log had no such aggregate, or not that version",
        **REFUSED,
    },
)
async def get_aggregate(
    request: web.Request, aggregate_id: UUID, query: AggregateQuery
) -> Answer[ReplayedAggregate]:
    """Replay an aggregate: now, at a position or time, or at a version.

    The id is that of an entry's resource. The read is recorded.
    """
    if query.at is not None and query.version is not None:
        raise MalformedRequestError(
            "either at or version", problems=[Problem("version", "beside at")]
        )
    async with _history(request) as history:
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
    history: _History, aggregate_id: UUID, version: int
) -> LoggedAggregate | None:
    aggregate, _ = await aggregate_reader.load(
        history.db, history.mapper, aggregate_id, upto=version
    )
    return aggregate if aggregate and aggregate.version == version else None


@routes.get(
    "/api/audit/aggregates/{aggregate_id}/difference",
    answers={
        200: "aggregates compared",
        404: "the log had no such aggregate",
        **REFUSED,
    },
)
async def get_aggregate_difference(
    request: web.Request, aggregate_id: UUID, query: BetweenQuery
) -> Answer[AggregateDifference]:
    """Compare an aggregate at two positions or times.

    The read is recorded. `GET /api/audit/events` with this ``resource`` and these
    positions lists who made the changes.
    """
    async with _history(request) as history:
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


@routes.get(
    "/api/audit/connectors/{id}/exposure",
    answers={200: "exposure of the connector", 404: "no such connector", **REFUSED},
)
async def get_connector_exposure(
    request: web.Request,
    id: UUID,  # noqa: A002
    query: BetweenQuery,
) -> Answer[Exposure]:
    """List who could use a connector between two positions or times, and why.

    The read is recorded.
    """
    async with _history(request) as history:
        since, until = await history.between(query)
        found = await exposure(
            until.events(id), since=since.position, until=until.position
        )
        if found is None:
            raise NotFoundError("no such connector at that position or time")
        for agent_id in {each["agent_id"] for each in found["grants"]}:
            retirement = await retirement_of(until.events(agent_id))
            if retirement is not None:
                end_with_agent(found, agent_id, retirement.origin)
    return Answer(message="exposure of the connector", data=found)


@routes.get(
    "/api/audit/agents/{agent_id}/decisions/difference",
    answers={
        200: "decisions compared",
        404: "no such agent",
        422: "the rules are too many and too complicated to compare",
        **REFUSED,
    },
)
async def get_decisions_difference(
    request: web.Request, agent_id: UUID, query: DecisionsQuery
) -> Answer[DecisionsDifference]:
    """Compare which tools an agent may call at two positions or times.

    Compares decisions, not rules: a tool whose definition has changed, and isn't
    accepted yet, differs as well. The read is recorded.
    """
    async with _history(request) as history:
        since, until = await history.between(query)
        if await until.find(Agent, agent_id) is None:
            raise NotFoundError("no such agent at that position or time")
        rules = [await _rules(then, agent_id) for then in (since, until)]
        # A connector can be held before its first rule, and after its last.
        connectors = {each for then in rules for each in then.rules}
        before, after = [
            FactsThen(
                then_rules,
                await _held(then, agent_id, connectors),
                await _definitions(then, connectors),
            )
            for then, then_rules in zip((since, until), rules, strict=True)
        ]
    tools = [name for name in query.tools.split(",") if name]
    data: DecisionsDifference = {
        "agent_id": agent_id,
        "since_position": since.position,
        "until_position": until.position,
        "connectors": await asyncio.to_thread(differences, before, after, tools),
    }
    return Answer(message="decisions compared", data=data)


async def _rules(then: AsOf, agent_id: UUID) -> RulesThen:
    return await rules_then(then.events(ToolRules.create_id(str(agent_id))))


async def _held(
    then: AsOf, agent_id: UUID, connectors: Iterable[str]
) -> dict[str, HoldingThen]:
    retirement = await retirement_of(then.events(agent_id))
    return {
        connector: await holding_then(
            then.events(UUID(connector)), agent_id, retirement
        )
        for connector in connectors
    }


async def _definitions(
    then: AsOf, connectors: Iterable[str]
) -> dict[str, DefinitionsThen]:
    return {
        connector: await definitions_then(
            then.events(ToolDefinitions.id_for(UUID(connector)))
        )
        for connector in connectors
    }
