"""Put the principal on the request, before anything else of it is read."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from service.auth.authenticate import Authenticator
from service.auth.principal import Principal
from service.auth.throttle import Throttle
from service.errors import UnauthenticatedError
from service.http.operation import Operation, operation_of

AUTHENTICATOR = web.AppKey("authenticator", Authenticator)
THROTTLE = web.AppKey("throttle", Throttle)
PRINCIPAL = web.RequestKey("principal", Principal)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse callers without a valid token; a path that doesn't exist needs none."""
    operation = operation_of(request)
    if operation is not None and not operation.public:
        request[PRINCIPAL] = await _principal(request, operation)
    return await handler(request)


async def _principal(request: web.Request, operation: Operation) -> Principal:
    header = request.headers.get("Authorization")
    config = request.config_dict
    try:
        principal = await config[AUTHENTICATOR].authenticate(header)
    except UnauthenticatedError:
        # Without a token nobody has guessed anything.
        if header is not None:
            config[THROTTLE].count_refused_token(request.remote)
        raise
    if operation.rate_limit is not None:
        config[THROTTLE].count_call(operation, principal.user_id)
    return principal
