"""Open the endpoints of model calls."""

from collections.abc import AsyncIterator, Callable
from typing import Final

from aiohttp import web

from service.model_gateway.calls.gate import ModelGate
from service.model_gateway.config import ModelGatewayConfig
from service.model_gateway.endpoint.asking import Asking
from service.model_gateway.endpoint.attempts import Attempts
from service.model_gateway.endpoint.forwarding import Forwarder
from service.model_gateway.endpoint.routes import MODEL_SERVER
from service.model_gateway.endpoint.server import ModelServer
from service.networks import networks_of
from service.upstream_http.addresses import AddressPolicy
from service.upstream_http.connections import open_connections

# Presets say how long an answer may be waited for: no preset waits longer.
SILENCE_S: Final = 7200.0


def serving_models(
    gate: ModelGate, config: ModelGatewayConfig, *, demo_port: int | None = None
) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return what answers model calls while an application runs."""
    policy = AddressPolicy(networks_of(config.model_gateway_networks), demo_port)

    async def serve(app: web.Application) -> AsyncIterator[None]:
        async with open_connections(policy, SILENCE_S, user_agent=None) as connections:
            attempts = Attempts(Asking(gate, connections))
            app[MODEL_SERVER] = ModelServer(gate, Forwarder(attempts))
            yield

    return serve
