"""Open the MCP endpoints of agents over a gate."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from service.gateway.endpoint.calls import ToolCalls
from service.gateway.endpoint.forwarding import Forwarder
from service.gateway.endpoint.request_state import RequestStates
from service.gateway.endpoint.server import AgentServer
from service.gateway.gate import Gate
from service.gateway.upstream.addresses import AddressPolicy
from service.gateway.upstream.client import UpstreamClient
from service.gateway.upstream.connections import open_connections


@asynccontextmanager
async def serving_agents(
    gate: Gate,
    mac: Callable[..., bytes],
    policy: AddressPolicy,
    *,
    hold_s: float,
    approval_url: str | None,
) -> AsyncIterator[AgentServer]:
    """Yield the server of agents; its connections are closed when the block ends.

    ``mac`` authenticates what clients keep between two rounds of a call.
    """
    async with open_connections(policy) as connections:
        forwarder = Forwarder(gate, UpstreamClient(connections))
        calls = ToolCalls(
            gate,
            forwarder,
            RequestStates(mac),
            hold_s=hold_s,
            approval_url=approval_url,
        )
        yield AgentServer(gate, calls)
