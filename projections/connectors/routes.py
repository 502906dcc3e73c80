"""Connectors over HTTP: lists."""

from typing import Annotated, TypedDict
from uuid import UUID

from aiohttp import web
from pydantic import Field

from projections.connectors.queries import visible_connectors
from projections.reading import reading
from service.auth.middleware import PRINCIPAL
from service.connectors.resource import ConnectorResource
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import QueryModel

routes = Routes("mcp")


class ConnectorListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=100)] = 25
    after: UUID | None = None


class ConnectorList(TypedDict):
    connectors: list[ConnectorResource]
    end_cursor: UUID | None


@routes.get(
    "/api/mcp/connectors",
    answers={200: "connectors"},
    data=ConnectorList,
    min_position=True,
)
async def get_connectors(request: web.Request, query: ConnectorListQuery) -> Answer:
    """List the connectors that the caller can see, by id."""
    principal = request[PRINCIPAL]
    async with reading(request, "connectors") as snapshot:
        connectors = await visible_connectors(
            snapshot.db,
            user_id=principal.user_id,
            everything=principal.sees_everything,
            after=query.after,
            limit=query.limit + 1,
        )
    page = connectors[: query.limit]
    return Answer(
        message="connectors",
        data=ConnectorList(
            connectors=page,
            end_cursor=page[-1]["id"] if len(connectors) > len(page) else None,
        ),
        headers=snapshot.headers,
    )
