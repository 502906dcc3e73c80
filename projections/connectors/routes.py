"""Connectors over HTTP: lists, and one of them, now or at another time."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.agents.queries import managed_among
from projections.connectors.queries import (
    ListedConnector,
    Scope,
    access_to,
    connector_by_id,
    grants_of_connector,
    visible_connectors,
)
from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.engine.time_travel import as_of
from service.connectors.aggregate import Connector
from service.connectors.health import HealthState
from service.connectors.resource import (
    ConnectorResource,
    Grant,
    connector_resource,
    grants_of,
)
from service.database import Db
from service.errors import NotFoundError
from service.http.app_keys import EVENT_LOG
from service.http.as_of import AtQuery
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn_if_past
from service.http.requests import QueryModel

routes = Routes("mcp")

PAGE_SIZE_MAX = 100
PAGE_SIZE = 25
NO_SUCH_CONNECTOR = "no such connector"
FOLLOWERS = ("connectors", "agents")


class ConnectorListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: UUID | None = None
    scope: Scope | None = None
    agent_id: UUID | None = None
    health: HealthState | None = None


class ConnectorList(TypedDict):
    connectors: list[ListedConnector]
    end_cursor: UUID | None


class ConnectorWithGrants(ConnectorResource):
    grants: list[Grant]


@routes.get("/api/mcp/connectors", answers={200: "connectors"}, min_position=True)
async def get_connectors(
    request: web.Request, query: ConnectorListQuery
) -> Answer[ConnectorList]:
    """List the connectors that the caller can see, by id.

    These are the caller's own, public ones, those offered to the caller, and those
    granted or offered to agents that the caller manages; superusers and auditors see
    all. ``scope`` limits the list to one of these kinds, ``agent_id`` to those granted
    or offered to one agent, ``health`` to those whose tools can be listed, or can't.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        connectors = await visible_connectors(
            snapshot.db,
            user_id=principal.user_id,
            everything=principal.sees_everything,
            scope=query.scope,
            agent_id=query.agent_id,
            health=query.health,
            after=query.after,
            limit=query.limit + 1,
        )
    page = page_of(connectors, query.limit, lambda connector: connector["id"])
    return Answer(
        message="connectors",
        data=ConnectorList(
            connectors=page.rows,
            end_cursor=page.end_cursor,
        ),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/mcp/connectors/{id}",
    answers={
        200: "connector",
        404: "no such connector, or none that the caller can see",
        **BUSY,
    },
    min_position=True,
)
@in_turn_if_past
async def get_connector(
    request: web.Request,
    id: UUID,  # noqa: A002
    query: AtQuery,
) -> Answer[ConnectorWithGrants]:
    """Get a connector, now or as of an earlier position or time.

    ``grants`` lists all grants and offers for the owner, superusers and auditors, and
    for others those of agents that they manage. Access is decided by current rights,
    also for the past. Only the owner, superusers and auditors see the past of a retired
    connector.
    """
    principal = request[PRINCIPAL]
    async with reading(request, *FOLLOWERS) as snapshot:
        access = await access_to(
            snapshot.db,
            id,
            user_id=principal.user_id,
            everything=principal.sees_everything,
        )
        headers = snapshot.headers
        if query.at is None:
            if access is None or not access.sees_now:
                raise NotFoundError(NO_SUCH_CONNECTOR)
            connector = await connector_by_id(snapshot.db, id)
            grants = await grants_of_connector(snapshot.db, id)
        else:
            log = request.app[EVENT_LOG]
            then = await as_of(snapshot.db, log.mapper, query.at, log.snapshots)
            was = await then.find(Connector, id)
            if access is None or not access.sees_past or was is None or was.is_retired:
                raise NotFoundError(NO_SUCH_CONNECTOR)
            connector, grants = connector_resource(was), grants_of(was)
            headers = {POSITION_HEADER: str(then.position)}
        if not access.sees_grants:
            grants = await _of_managed_agents(snapshot.db, principal.user_id, grants)
    return Answer(
        message="connector",
        data=ConnectorWithGrants(**connector, grants=grants),
        etag=connector["version"],
        headers=headers,
    )


async def _of_managed_agents(db: Db, user_id: UUID, grants: list[Grant]) -> list[Grant]:
    managed = await managed_among(db, user_id, [each["agent_id"] for each in grants])
    return [each for each in grants if each["agent_id"] in managed]
