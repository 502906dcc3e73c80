"""Put the principal on the request, before anything else of it is read."""

from aiohttp import web

from service.auth.authenticate import Authenticator
from service.auth.principal import Principal
from service.auth.throttle import Throttle
from service.errors import UnauthenticatedError
from service.http.operation import Operation

AUTHENTICATOR = web.AppKey("authenticator", Authenticator)
THROTTLE = web.AppKey("throttle", Throttle)
PRINCIPAL = web.RequestKey("principal", Principal)


async def authenticate(request: web.Request, operation: Operation) -> None:
    """Put on the request who is calling.

    :raises UnauthenticatedError: without a valid token
    :raises TooManyRequestsError: for too many refused tokens, or calls
    """
    header = request.headers.get("Authorization")
    app = request.app
    authenticator = app[AUTHENTICATOR]
    try:
        principal = authenticator.recall(header) or await authenticator.authenticate(
            header
        )
    except UnauthenticatedError:
        # Without a token nobody has guessed anything.
        if header is not None:
            app[THROTTLE].count_refused_token(request.remote)
        raise
    if operation.rate_limit is not None:
        app[THROTTLE].count_call(operation, principal.user_id)
    request[PRINCIPAL] = principal
