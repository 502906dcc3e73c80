"""The exceptions of calls to upstreams."""

from enum import StrEnum
from http import HTTPStatus
from typing import Final

from service.gateway.gate import Outcome
from service.upstream_http.errors import ConnectError

# What is to be done, for models, which read these messages.
_TELL: Final = "calling again won't help: tell a person"
_ONCE: Final = "call again only if the tool may run twice"
NOT_REACHABLE: Final = (
    "the tool's server can't be reached; call again in a minute, and tell a person if "
    "that doesn't help"
)
NOT_FOUND: Final = (
    f"no server is found at the URL of the tool's connector, or none for tools; {_TELL}"
)
ADDRESS_REFUSED: Final = (
    f"the gateway must not call the address of the tool's server; {_TELL}"
)
NOT_SECURE: Final = f"there is no secure connection (TLS) to the tool's server; {_TELL}"
NO_ANSWER: Final = f"the tool's server did not answer in time; {_ONCE}"
ENDED: Final = f"the tool's server ended the connection before it had answered; {_ONCE}"
TOO_LARGE: Final = "the tool's answer is too large for the gateway; ask for less"
NOT_MCP: Final = f"the tool's server answered with something that is not MCP; {_ONCE}"
WEB_PAGE: Final = f"the tool's server answered with a web page, not with MCP; {_TELL}"
REDIRECTED: Final = (
    f"the tool's server redirects to another URL, which isn't followed; {_TELL}"
)
NO_REVISION: Final = (
    f"the tool's server speaks no revision of MCP that the gateway speaks; {_TELL}"
)
OTHER_ID: Final = f"the tool's server answered to another request than this; {_ONCE}"
NO_RESULT: Final = f"the tool's server answered without a result; {_ONCE}"
DUPLICATE_KEY: Final = (
    "the tool's answer has a key twice in one object, so that one value would be lost; "
    f"{_TELL}"
)
UNAUTHORIZED: Final = (
    "the tool's server wants a credential, or refuses the one that the gateway sends; "
    f"{_TELL}"
)
FORBIDDEN: Final = f"the tool's server forbids this call; {_TELL}"
TOO_MANY: Final = "the tool's server gets too many calls; call again in a minute"
FAILED: Final = f"the tool's server failed; {_ONCE}"
REFUSED: Final = (
    "the tool's server refused the call with an error; change the arguments, or tell a "
    "person"
)
SESSION_ENDED: Final = "the tool's server ends its sessions at once; call again"
CREDENTIAL_RETURNED: Final = (
    "the tool's server put its credential into its answer, which can't be used; "
    "the connector's owner has to stop it from that"
)
# Which no setting allows.
HEAD: Final = "64 KiB of head or trailers"
WANTS_INPUT: Final = "the tool asked for input that the client can't give"


class Cause(StrEnum):
    """Why an upstream gave no usable answer, as the connector's owner is told."""

    INVALID_URL = "invalid_url"
    NAME_NOT_FOUND = "name_not_found"
    CONNECTION_REFUSED = "connection_refused"
    CONNECT_TIMEOUT = "connect_timeout"
    UNREACHABLE = "unreachable"
    TLS_REQUIRED = "tls_required"
    TLS_CERTIFICATE = "tls_certificate"
    TLS_FAILED = "tls_failed"
    PRIVATE_ADDRESS = "private_address"
    METADATA_ADDRESS = "metadata_address"
    TIMEOUT = "timeout"
    CONNECTION_CLOSED = "connection_closed"
    TOO_LARGE = "too_large"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    HTTP_STATUS = "http_status"
    REDIRECT = "redirect"
    LEGACY_SSE = "legacy_sse"
    WEB_PAGE = "web_page"
    NOT_MCP = "not_mcp"
    NO_REVISION = "no_revision"
    PROTOCOL_ERROR = "protocol_error"
    CREDENTIAL = "credential"
    INTERNAL = "internal"


CAUSES_OF_MESSAGES: Final = {
    NOT_REACHABLE: Cause.UNREACHABLE,
    NO_ANSWER: Cause.TIMEOUT,
    ENDED: Cause.CONNECTION_CLOSED,
    SESSION_ENDED: Cause.CONNECTION_CLOSED,
    TOO_LARGE: Cause.TOO_LARGE,
    WEB_PAGE: Cause.WEB_PAGE,
    REDIRECTED: Cause.REDIRECT,
    NO_REVISION: Cause.NO_REVISION,
    REFUSED: Cause.PROTOCOL_ERROR,
}
# The server may be there, and not speak, or no longer know the session.
SAY_NOT_MCP: Final = frozenset({NOT_MCP, WEB_PAGE})
_OF_STATUSES: Final[dict[int, tuple[str, Cause]]] = {
    HTTPStatus.UNAUTHORIZED: (UNAUTHORIZED, Cause.UNAUTHORIZED),
    HTTPStatus.FORBIDDEN: (FORBIDDEN, Cause.FORBIDDEN),
    HTTPStatus.NOT_FOUND: (NOT_FOUND, Cause.NOT_FOUND),
    HTTPStatus.METHOD_NOT_ALLOWED: (NOT_FOUND, Cause.METHOD_NOT_ALLOWED),
    HTTPStatus.TOO_MANY_REQUESTS: (TOO_MANY, Cause.HTTP_STATUS),
}
# Of connections that will fail again.
_OF_CONNECTING: Final = {
    Cause.INVALID_URL: NOT_FOUND,
    Cause.TLS_REQUIRED: NOT_SECURE,
    Cause.TLS_CERTIFICATE: NOT_SECURE,
    Cause.TLS_FAILED: NOT_SECURE,
    Cause.PRIVATE_ADDRESS: ADDRESS_REFUSED,
    Cause.METADATA_ADDRESS: ADDRESS_REFUSED,
}


class UpstreamError(Exception):
    """No usable answer; the message is for the agent, and quotes nothing.

    ``detail`` is for the service's log, and for the connector's owner beside ``cause``:
    it is of the gateway's own words and numbers.
    """

    def __init__(
        self,
        message: str,
        outcome: Outcome,
        detail: str = "",
        cause: Cause | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.outcome = outcome
        self.detail = detail
        self.cause = cause or CAUSES_OF_MESSAGES.get(message, Cause.NOT_MCP)


class NotConnectedError(UpstreamError):
    """The server can't be reached: nothing was sent."""

    def __init__(self, error: ConnectError) -> None:
        cause = Cause(error.cause.value)
        message = _OF_CONNECTING.get(cause, NOT_REACHABLE)
        super().__init__(message, Outcome.NOT_SENT, error.detail, cause)


class RedirectedError(UpstreamError):
    """The server redirects; ``target`` is where to, empty if that can't be shown.

    It is of the server's own words, for nobody but those who see the connector.
    """

    def __init__(self, status: int, target: str) -> None:
        super().__init__(REDIRECTED, Outcome.UPSTREAM_ERROR, f"status {status}")
        self.target = target


class NotTakenError(UpstreamError):
    """The server hasn't taken the message, and has done nothing."""


class NotSentError(NotTakenError):
    """There was a connection, and nothing was sent on it."""

    def __init__(self, detail: str) -> None:
        super().__init__(NOT_REACHABLE, Outcome.NOT_SENT, detail)


class SessionEndedError(NotTakenError):
    """The server knows the session no longer."""

    def __init__(self, status: int) -> None:
        super().__init__(SESSION_ENDED, Outcome.UPSTREAM_ERROR, f"status {status}")


def unusable(
    detail: str, message: str = NOT_MCP, cause: Cause | None = None
) -> UpstreamError:
    return UpstreamError(message, Outcome.UPSTREAM_ERROR, detail, cause)


def bad_status(status: int, of: str = "") -> UpstreamError:
    """Return the error of a status that is no answer; ``of`` is what it answers."""
    detail = f"status {status} to {of}" if of else f"status {status}"
    failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    other = (FAILED if failed else REFUSED, Cause.HTTP_STATUS)
    return unusable(detail, *_OF_STATUSES.get(status, other))


def refused(code: int | None) -> UpstreamError:
    """Return the error of an answer that is an error of JSON-RPC."""
    return unusable("an error" if code is None else f"error {code}", REFUSED)


def too_large(detail: str) -> UpstreamError:
    return UpstreamError(TOO_LARGE, Outcome.TOO_LARGE, detail)
