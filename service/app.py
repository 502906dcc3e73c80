"""The composition root of HTTP: every operation, and what they share."""

from collections.abc import Sequence

from aiohttp import web

from projections.connectors.routes import routes as connector_reads
from projections.reading import READ_POOL
from service.auth.middleware import AUTHENTICATOR, THROTTLE, authenticate
from service.auth.throttle import Throttle
from service.connectors.routes import routes as connector_commands
from service.http.body import BODY_BYTES_MAX
from service.http.dispatch import EVENT_LOG, KEY_RING
from service.http.errors import report_errors
from service.http.observe import observe
from service.http.openapi.document import ApiDocument
from service.http.openapi.routes import API_DOCUMENT
from service.http.openapi.routes import routes as api_documents
from service.http.operation import Operation, add_operations
from service.resources import Resources


def operations() -> list[Operation]:
    """Return every operation of the API, in the order of the documentation."""
    return [
        operation
        for routes in (connector_commands, connector_reads, api_documents)
        for operation in routes.operations
    ]


def create_app(resources: Resources) -> web.Application:
    """Wire the operations to what a process holds open."""
    app = web.Application(
        middlewares=[observe, report_errors, authenticate],
        client_max_size=BODY_BYTES_MAX,
    )
    app[READ_POOL] = resources.pool
    app[EVENT_LOG] = resources.log
    app[KEY_RING] = resources.key_ring
    app[AUTHENTICATOR] = resources.authenticator
    app[THROTTLE] = Throttle()
    served: Sequence[Operation] = operations()
    app[API_DOCUMENT] = ApiDocument(
        [operation for operation in served if operation.documented]
    )
    add_operations(app, served)
    return app
