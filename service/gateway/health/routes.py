"""The health of connectors over HTTP: reading it, and observing a connector now."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from aiohttp import web

from service.connectors.aggregate import Connector
from service.errors import TooManyRequestsError
from service.gateway.health.commands import (
    ObserveNow,
    ReadHealth,
    observe_now,
    read_health,
)
from service.gateway.health.observing import OBSERVER
from service.gateway.health.resource import HealthResource, health_resource
from service.gateway.health.table import CONNECTOR_HEALTH
from service.http.dispatch import execute_for
from service.http.envelope import Answer
from service.http.operation import Routes

routes = Routes("mcp")

# Between two observations of a connector that are asked for.
INTERVAL_S: Final = 10.0
WAIT_S: Final = 15.0
NO_SUCH_CONNECTOR: Final = "no such connector, or none that the caller can see"


@routes.get(
    "/api/mcp/connectors/{id}/health",
    answers={200: "connector health", 404: NO_SUCH_CONNECTOR},
)
async def get_connector_health(
    request: web.Request,
    id: UUID,  # noqa: A002
) -> Answer[HealthResource]:
    """Read whether a connector's tools can be listed, and why not.

    As of the last observation, for everybody who sees the connector. A connector is
    observed within seconds of its registration, or another URL; one that agents hold,
    of each change and then at intervals.
    """
    connector, _ = await execute_for(request, read_health, ReadHealth(connector_id=id))
    return Answer(message="connector health", data=await _health(request, connector))


@routes.post(
    "/api/mcp/connectors/{id}/observe",
    answers={
        200: "connector observed; the health says how that ended",
        202: "connector is being observed; read its health in a few seconds",
        403: "the caller is neither its owner nor a superuser",
        404: NO_SUCH_CONNECTOR,
        429: "it was observed at somebody's request less than ten seconds ago "
        "(`observed_just_now`), or this process observes eight at somebody's request "
        "(`too_many_observations`)",
    },
    idempotent_key=False,
)
async def post_connector_observe(
    request: web.Request,
    id: UUID,  # noqa: A002
) -> Answer[HealthResource]:
    """List a connector's tools now, instead of when they are next due.

    For its owner and superusers, also while no agent holds it. What is found counts as
    in any observation: new and changed definitions wait to be accepted.
    """
    connector, _ = await execute_for(request, observe_now, ObserveNow(connector_id=id))
    table = request.app[CONNECTOR_HEALTH]
    may_ask = await table.ask(
        id, connector.url, at=datetime.now(UTC), interval_s=INTERVAL_S
    )
    if not may_ask:
        raise TooManyRequestsError(
            f"this connector was observed less than {INTERVAL_S:.0f} s ago; read its "
            "health, or try again then",
            code="observed_just_now",
            headers={"Retry-After": str(round(INTERVAL_S))},
        )
    is_done = await request.app[OBSERVER].observe_now(id, WAIT_S)
    return Answer(
        message="connector observed" if is_done else "connector is being observed",
        data=await _health(request, connector),
        status=200 if is_done else 202,
    )


async def _health(request: web.Request, connector: Connector) -> HealthResource:
    row = await request.app[CONNECTOR_HEALTH].find(connector.id)
    return health_resource(connector, row)
