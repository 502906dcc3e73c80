"""Agents over HTTP: lists, and one of them."""

from typing import Annotated, TypedDict
from uuid import UUID

from aiohttp import web
from pydantic import Field

from projections.agents.queries import visible_agents
from projections.engine.snapshot import reading
from service.agents.resource import AgentResource
from service.errors import NotFoundError
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import QueryModel

routes = Routes("catalog")

PAGE_SIZE_MAX = 100
PAGE_SIZE = 25


class AgentListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: UUID | None = None


class AgentList(TypedDict):
    agents: list[AgentResource]
    end_cursor: UUID | None


@routes.get(
    "/api/catalog/agents",
    answers={200: "agents"},
    data=AgentList,
    min_position=True,
)
async def get_agents(request: web.Request, query: AgentListQuery) -> Answer:
    """List the agents that the caller manages, by id.

    Superusers and auditors see all. ``after`` is the ``end_cursor`` of the page
    before.
    """
    principal = request[PRINCIPAL]
    async with reading(request, "agents") as snapshot:
        agents = await visible_agents(
            snapshot.db,
            user_id=principal.user_id,
            everything=principal.sees_everything,
            after=query.after,
            limit=query.limit + 1,
        )
    page = agents[: query.limit]
    return Answer(
        message="agents",
        data=AgentList(
            agents=page,
            end_cursor=page[-1]["id"] if len(agents) > len(page) else None,
        ),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/catalog/agents/{agent_id}",
    answers={200: "agent", 404: "no such agent, or none that the caller can see"},
    data=AgentResource,
    min_position=True,
)
async def get_agent(request: web.Request, agent_id: UUID) -> Answer:
    """Get an agent that the caller manages."""
    principal = request[PRINCIPAL]
    async with reading(request, "agents") as snapshot:
        found = await visible_agents(
            snapshot.db,
            user_id=principal.user_id,
            everything=principal.sees_everything,
            agent_id=agent_id,
        )
    if not found:
        raise NotFoundError("no such agent")
    agent = found[0]
    return Answer(
        message="agent", data=agent, etag=agent["version"], headers=snapshot.headers
    )
