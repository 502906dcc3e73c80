"""Put the principal on the request, before anything else of it is read."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from service.auth.authenticate import Authenticator
from service.auth.principal import Principal
from service.http.operation import operation_of

AUTHENTICATOR = web.AppKey("authenticator", Authenticator)
PRINCIPAL = web.RequestKey("principal", Principal)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse callers without a valid token; a path that doesn't exist needs none."""
    operation = operation_of(request)
    if operation is not None and not operation.public:
        request[PRINCIPAL] = await request.config_dict[AUTHENTICATOR].authenticate(
            request.headers.get("Authorization")
        )
    return await handler(request)
