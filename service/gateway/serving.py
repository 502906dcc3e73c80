"""Open the MCP endpoints of agents over a gate."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web

from service.gateway.config import GatewayConfig
from service.gateway.endpoint.calls import ToolCalls
from service.gateway.endpoint.cancellations import Cancellations
from service.gateway.endpoint.forwarding import Forwarder
from service.gateway.endpoint.questions import Questions, Seal
from service.gateway.endpoint.request_state import RequestStates
from service.gateway.endpoint.routes import AGENT_SERVER
from service.gateway.endpoint.server import AgentServer
from service.gateway.endpoint.traces import CallTraces
from service.gateway.gate import GATE, Gate
from service.gateway.health.observing import OBSERVER
from service.gateway.health.returned_credentials import ReturnedCredentials
from service.gateway.health.table import (
    CONNECTOR_HEALTH,
    CredentialReturned,
    Failed,
    Succeeded,
)
from service.gateway.observer import DefinitionObserver, observing
from service.gateway.upstream.client import UpstreamClient
from service.gateway.upstream.connections import (
    UpstreamConnections,
    open_upstream_connections,
)
from service.networks import networks_of
from service.notifications import (
    CANCELLED_CALLS_CHANNEL,
    CLIENTS_ANSWERS_CHANNEL,
    Notifications,
)
from service.upstream_http.addresses import AddressPolicy

if TYPE_CHECKING:
    from service.tracing.tracing import Tracing


Note = Callable[[Succeeded | Failed | CredentialReturned], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Gateway:
    """The protocol side of one process."""

    server: AgentServer
    observer: DefinitionObserver


@asynccontextmanager
async def open_gateway(
    gate: Gate,
    mac: Callable[..., bytes],
    connections: UpstreamConnections,
    config: GatewayConfig,
    traces: "Tracing | None" = None,
    *,
    note: Note,
    cancellations: Cancellations,
    questions: Questions,
) -> AsyncIterator[Gateway]:
    """Yield a gateway, which calls over the connections until the block ends.

    ``mac`` authenticates what clients keep between two rounds of a call. ``note`` keeps
    how observations of tools ended, and whether upstreams return their credentials.
    With ``traces`` calls have spans.
    """
    returned = ReturnedCredentials(note)
    bounds = connections.bounds
    client = UpstreamClient(connections, returned.count)
    observer = DefinitionObserver(gate, client, note)
    calls = ToolCalls(
        gate,
        Forwarder(
            gate,
            client,
            questions=questions,
            on_list_changed=observer.list_changed,
        ),
        RequestStates(mac),
        questions=questions,
        hold_s=config.gateway_hold_s,
        answer_s=bounds.call_s,
        approval_url=config.gateway_approval_url,
    )
    try:
        server = AgentServer(
            gate,
            calls,
            cancellations,
            questions,
            _of_calls(traces),
            values_max=bounds.values_max,
        )
        yield Gateway(server, observer)
    finally:
        await observer.close()
        await client.close()
        await returned.close()


def _of_calls(traces: "Tracing | None") -> CallTraces | None:
    if traces is None:
        return None
    from service.gateway.endpoint.spans import CallSpans

    return CallSpans(traces.tracer("agent-runtime.gateway"))


def serving_agents(
    conninfo: str,
    notifications: Notifications,
    seal: Seal,
    mac: Callable[..., bytes],
    config: GatewayConfig,
    traces: "Tracing | None" = None,
    *,
    demo_port: int | None = None,
) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return what answers agents, and observes tools, while an application runs.

    ``demo_port`` is the port of 127.0.0.1 where the tools of the demo are.
    """
    policy = AddressPolicy(networks_of(config.gateway_networks), demo_port)

    async def serve(app: web.Application) -> AsyncIterator[None]:
        cancelled, answers = CANCELLED_CALLS_CHANNEL, CLIENTS_ANSWERS_CHANNEL
        cancellations = Cancellations(partial(notifications.notify, cancelled))
        questions = Questions(partial(notifications.notify, answers), seal)
        async with (
            open_upstream_connections(policy, config.gateway_bounds) as connections,
            open_gateway(
                app[GATE],
                mac,
                connections,
                config,
                traces,
                note=app[CONNECTOR_HEALTH].note,
                cancellations=cancellations,
                questions=questions,
            ) as gateway,
            observing(conninfo, gateway.observer),
        ):
            app[AGENT_SERVER] = gateway.server
            app[OBSERVER] = gateway.observer
            with (
                notifications.subscribed(cancelled, cancellations.cancel_here),
                notifications.subscribed(answers, questions.answered_elsewhere),
            ):
                yield

    return serve
