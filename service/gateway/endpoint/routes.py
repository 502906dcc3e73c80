"""The MCP endpoints of agents: JSON-RPC over HTTP, beside the operations of the API."""

from typing import Final
from uuid import UUID

from aiohttp import web

from service.gateway.endpoint.rpc_errors import rpc_refusal
from service.gateway.endpoint.server import AgentServer
from service.gateway.protocol.revisions import JSON
from service.http.operation import OperationOptions, Routes

routes = Routes("mcp")

AGENT_SERVER = web.AppKey("agent_server", AgentServer)

# The gate authenticates, by tokens of agents. The OpenAPI document is of the API.
_OPTIONS: Final[OperationOptions] = {
    "answers": {200: "an answer of JSON-RPC, or an event stream", 202: "noted"},
    "public": True,
    "documented": False,
    "idempotent_key": False,
    "raw_body": (JSON,),
    "refusal": rpc_refusal,
}


# Many people end an address in a slash.
@routes.post("/mcp/agents/{agent_id}/", **_OPTIONS)
@routes.post("/mcp/agents/{agent_id}", **_OPTIONS)
async def post_to_agent(request: web.Request, agent_id: UUID) -> web.StreamResponse:
    """Answer one MCP message of an agent, with the tools of all its connectors."""
    return await request.app[AGENT_SERVER].answer(request, agent_id, None)


@routes.post("/mcp/agents/{agent_id}/connectors/{connector_id}/", **_OPTIONS)
@routes.post("/mcp/agents/{agent_id}/connectors/{connector_id}", **_OPTIONS)
async def post_to_connector(
    request: web.Request, agent_id: UUID, connector_id: UUID
) -> web.StreamResponse:
    """Answer one MCP message of an agent, with the tools of one connector."""
    return await request.app[AGENT_SERVER].answer(request, agent_id, connector_id)
