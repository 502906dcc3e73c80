"""Authentication of requests, before their bodies are read."""

from typing import Protocol

from aiohttp import web

from service.errors import UnauthenticatedError
from service.http.browser_session import authorization_of
from service.http.client_address import address_of
from service.http.operation import Operation
from service.http.throttle import Throttle
from service.principal import Principal


class Authenticator(Protocol):
    """Returns the principal of an ``Authorization`` header."""

    def recall(self, header: str | None) -> Principal | None:
        """Return the cached principal of a header, if it is still current."""

    async def authenticate(self, header: str | None) -> Principal:
        """Return the principal.

        :raises UnauthenticatedError: without a valid token
        """


AUTHENTICATOR: web.AppKey[Authenticator] = web.AppKey("authenticator")
THROTTLE = web.AppKey("throttle", Throttle)
PRINCIPAL = web.RequestKey("principal", Principal)


async def authenticate(request: web.Request, operation: Operation) -> None:
    """Put the principal on the request.

    :raises UnauthenticatedError: without a valid token
    :raises TooManyRequestsError: after too many refused tokens, or calls
    """
    principal = await principal_of(request, authorization_of(request))
    if operation.rate_limit is not None:
        request.app[THROTTLE].count_call(operation, principal.user_id)
    request[PRINCIPAL] = principal


async def principal_of(request: web.Request, header: str | None) -> Principal:
    """Return the principal of an ``Authorization`` header that a request has brought.

    :raises UnauthenticatedError: without a valid token
    :raises TooManyRequestsError: after too many refused tokens
    """
    authenticator = request.app[AUTHENTICATOR]
    try:
        return authenticator.recall(header) or await authenticator.authenticate(header)
    except UnauthenticatedError:
        count_refused_token(request, header)
        raise


def count_refused_token(request: web.Request, given: str | None) -> None:
    """Count a refused token, or what stands for one, against its address.

    A request without any is no attempt to guess one.

    :raises TooManyRequestsError: too many came from this address
    """
    if given is not None:
        request.app[THROTTLE].count_refused_token(address_of(request))


async def authenticate_again(request: web.Request) -> Principal:
    """Return the request's principal as it is now.

    :raises UnauthenticatedError: the token has been revoked since
    """
    return await request.app[AUTHENTICATOR].authenticate(authorization_of(request))
