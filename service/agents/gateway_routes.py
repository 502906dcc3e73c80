"""How the gateway lists an agent's tools, over HTTP."""

from typing import Annotated, Final
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from service.agents.aggregate import Agent
from service.agents.gateway_commands import (
    ChangeToolSearch,
    ReadToolSearch,
    change_tool_search,
    read_tool_search,
)
from service.http.dispatch import dispatch, execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import RequestModel

routes = Routes("mcp")

NO_SUCH_AGENT = "no such agent, or none that the caller can see"
TOOLS_LISTED_MAX: Final = 1_000_000


class ToolSearchBody(RequestModel):
    tools_listed_max: Annotated[
        int | None,
        Field(
            ge=0,
            le=TOOLS_LISTED_MAX,
            description=(
                "An agent with more tools is listed two instead, which search them and "
                "call what was found; null: all are always listed."
            ),
        ),
    ]


class AgentGatewayResource(TypedDict):
    """How the gateway lists the tools of an agent; ``version`` is the agent's."""

    agent_id: UUID
    tools_listed_max: int | None
    version: int


@routes.get(
    "/api/mcp/agents/{agent_id}/gateway",
    answers={200: "gateway settings of the agent", 404: NO_SUCH_AGENT},
)
async def get_agent_gateway(
    request: web.Request, agent_id: UUID
) -> Answer[AgentGatewayResource]:
    """Read how the gateway lists an agent's tools.

    For everyone who sees the agent.
    """
    agent, _ = await execute_for(
        request, read_tool_search, ReadToolSearch(agent_id=agent_id)
    )
    return _answer(agent, "gateway settings of the agent")


@routes.put(
    "/api/mcp/agents/{agent_id}/gateway",
    answers={
        200: "gateway settings changed, or agent already had them",
        403: "the caller doesn't manage this agent",
        404: NO_SUCH_AGENT,
        409: "the agent is retired (`agent_retired`)",
    },
    if_match=True,
    body_example={"tools_listed_max": 40},
)
async def put_agent_gateway(
    request: web.Request, agent_id: UUID, body: ToolSearchBody
) -> Answer[AgentGatewayResource]:
    """Change how the gateway lists an agent's tools.

    Requires full management of the agent. Where it has more tools than
    `tools_listed_max`, the list at `/mcp/agents/{agent_id}` is of two tools:
    `find-tools` finds by words what the agent may call, and `call-tool` calls it. Each
    call is decided and recorded as that of the tool that it calls.
    """

    def present(result: tuple[Agent, bool]) -> Answer[AgentGatewayResource]:
        agent, changed = result
        message = "gateway settings changed" if changed else "agent already had them"
        return _answer(agent, message)

    return await dispatch(
        request,
        change_tool_search,
        ChangeToolSearch(agent_id=agent_id, tools_listed_max=body.tools_listed_max),
        present,
    )


def _answer(agent: Agent, message: str) -> Answer[AgentGatewayResource]:
    return Answer(
        message=message,
        data={
            "agent_id": agent.id,
            "tools_listed_max": agent.tools_listed_max,
            "version": agent.version,
        },
        etag=agent.version,
    )
