"""Agents over HTTP: lists, and one of them."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.agents.queries import visible_agents
from projections.engine.paging import page_of
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


@routes.get("/api/catalog/agents", answers={200: "agents"}, min_position=True)
async def get_agents(request: web.Request, query: AgentListQuery) -> Answer[AgentList]:
    """List the agents that the caller manages or is a reader of, by id.

    Retired agents are listed too. Superusers and auditors see all agents.
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
    page = page_of(agents, query.limit, lambda agent: agent["id"])
    return Answer(
        message="agents",
        data=AgentList(
            agents=page.rows,
            end_cursor=page.end_cursor,
        ),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/catalog/agents/{agent_id}",
    answers={200: "agent", 404: "no such agent, or none that the caller can see"},
    min_position=True,
)
async def get_agent(request: web.Request, agent_id: UUID) -> Answer[AgentResource]:
    """Get an agent that the caller manages or is a reader of."""
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
