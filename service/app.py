"""The composition root of HTTP: every operation, and what they share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aiohttp import web

from projections.sessions.phoenix.store import PhoenixStore
from service.capabilities.catalog import CAPABILITIES
from service.capabilities.declaration import AppContext
from service.capabilities.health import HEALTH_PROBES
from service.follower_process import FollowerProcess
from service.gateway.serving import GatewaySettings
from service.http.app_keys import EVENT_LOG, KEY_RING, VAULT, WAITS
from service.http.authentication import AUTHENTICATOR, THROTTLE
from service.http.body import BODY_BYTES_MAX
from service.http.client_address import TRUSTED_PROXIES
from service.http.middleware import edge
from service.http.openapi.document import ApiDocument
from service.http.openapi.routes import API_DOCUMENT
from service.http.operation import Operation, add_operations
from service.http.own_writes import OWN_WRITES, OwnWrites
from service.http.read_server import READ_SERVERS, READS_ONLY
from service.http.replays import REPLAYS, Replays
from service.http.request_spans import tracing_requests
from service.http.server import DRAINING, Draining
from service.http.streaming import STREAMS, Streams
from service.http.throttle import Throttle
from service.networks import Network
from service.resources import Resources

if TYPE_CHECKING:
    from service.tracing.tracing import Tracing


def operations() -> list[Operation]:
    """Return every operation of the API, in the order of the documentation."""
    return [each for capability in CAPABILITIES for each in capability.operations]


def create_app(
    resources: Resources,
    *,
    probes_only: bool = False,
    reads_only: bool = False,
    phoenix: PhoenixStore | None = None,
    follower_process: FollowerProcess | None = None,
    gateway: GatewaySettings | None = None,
    traces: "Tracing | None" = None,
    trusted_proxies: Sequence[Network] = (),
) -> web.Application:
    """Wire the operations to what a process holds open.

    ``probes_only``: for a process without the API, which still answers probes.
    ``reads_only``: commands are refused. ``trusted_proxies``: where the addresses of
    clients are taken from. The others are those of :class:`AppContext`.
    """
    context = AppContext(
        resources=resources,
        phoenix=phoenix,
        follower_process=follower_process,
        gateway=gateway or GatewaySettings(),
        traces=traces,
    )
    middlewares = [edge] if traces is None else [tracing_requests(traces), edge]
    app = web.Application(middlewares=middlewares, client_max_size=BODY_BYTES_MAX)
    app[READS_ONLY] = reads_only
    app[READ_SERVERS] = resources.reads
    app[DRAINING] = Draining()
    app[EVENT_LOG] = resources.log
    app[KEY_RING] = resources.key_ring
    app[VAULT] = resources.vault
    app[WAITS] = resources.waits
    app[AUTHENTICATOR] = resources.authenticator
    app[THROTTLE] = Throttle()
    app[TRUSTED_PROXIES] = trusted_proxies
    app[OWN_WRITES] = OwnWrites()
    app[STREAMS] = Streams()
    app[REPLAYS] = Replays()
    app.on_shutdown.append(app[STREAMS].close)
    for capability in CAPABILITIES:
        capability.app_resources(app, context)
    if not probes_only:
        for capability in reversed(CAPABILITIES):
            app.cleanup_ctx.extend(capability.app_tasks(app, context))
    served: Sequence[Operation] = (
        HEALTH_PROBES.operations if probes_only else operations()
    )
    app[API_DOCUMENT] = ApiDocument(
        [operation for operation in served if operation.documented]
    )
    add_operations(app, served)
    return app
