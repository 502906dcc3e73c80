"""The composition root of HTTP: every operation, and what they share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aiohttp import web

from service.capabilities.catalog import core_first, followers_left_out, running
from service.capabilities.declaration import Process
from service.capabilities.health import HEALTH_PROBES
from service.config import DEFAULTS, Config
from service.follower_process import FollowerProcess
from service.http.app_keys import EVENT_LOG, KEY_RING, LEFT_OUT, VAULT, WAITS
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
from service.networks import networks_of
from service.resources import Resources

if TYPE_CHECKING:
    from service.tracing.tracing import Tracing


def operations(config: Config = DEFAULTS) -> list[Operation]:
    """Return the operations of the API, in the order of the documentation."""
    return [each for capability in running(config) for each in capability.operations]


def create_app(
    resources: Resources,
    config: Config = DEFAULTS,
    *,
    traces: "Tracing | None" = None,
    follower_process: FollowerProcess | None = None,
    demo_port: int | None = None,
) -> web.Application:
    """Wire the operations to what a process has, see :class:`Process`.

    In a process without the API there are probes and metrics only.
    """
    process = Process(
        config=config,
        resources=resources,
        traces=traces,
        follower_process=follower_process,
        followers_left_out=followers_left_out(config),
        demo_port=demo_port,
    )
    serves_api = "api" in config.parts
    middlewares = [edge] if traces is None else [tracing_requests(traces), edge]
    app = web.Application(middlewares=middlewares, client_max_size=BODY_BYTES_MAX)
    app[READS_ONLY] = config.reads_only
    app[READ_SERVERS] = resources.reads
    app[DRAINING] = Draining()
    app[EVENT_LOG] = resources.log
    app[KEY_RING] = resources.key_ring
    app[VAULT] = resources.vault
    app[WAITS] = resources.waits
    # Without the API there is no document that unknown paths could lead to.
    app[LEFT_OUT] = sorted(config.left_out) if serves_api else []
    app[AUTHENTICATOR] = resources.authenticator
    app[THROTTLE] = Throttle()
    app[TRUSTED_PROXIES] = networks_of(config.trusted_proxies)
    app[OWN_WRITES] = OwnWrites()
    app[STREAMS] = Streams()
    app[REPLAYS] = Replays()
    app.on_shutdown.append(app[STREAMS].close)
    capabilities = running(config)
    for capability in core_first(capabilities):
        capability.app_resources(app, process)
    if serves_api:
        for capability in reversed(capabilities):
            app.cleanup_ctx.extend(capability.app_tasks(app, process))
    served: Sequence[Operation] = (
        operations(config) if serves_api else HEALTH_PROBES.operations
    )
    app[API_DOCUMENT] = ApiDocument(
        [operation for operation in served if operation.documented]
    )
    add_operations(app, served)
    return app
