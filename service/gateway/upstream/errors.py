"""The exceptions of calls to upstreams."""

from enum import StrEnum
from http import HTTPStatus
from typing import Final

from service.gateway.gate import Outcome

NOT_REACHABLE: Final = "the tool's server can't be reached"
NO_ANSWER: Final = "the tool's server did not answer in time"
ENDED: Final = "the tool's server ended the connection before it had answered"
TOO_LARGE: Final = "the tool's answer is too large for the gateway"
NOT_MCP: Final = "the tool's server answered with something that is not MCP"
DUPLICATE_KEY: Final = (
    "the tool's answer has a key twice in one object, so that one value would be lost"
)
REFUSED: Final = "the tool's server refused the call"
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
    LEGACY_SSE = "legacy_sse"
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
    REFUSED: Cause.PROTOCOL_ERROR,
}
CAUSES_OF_STATUSES: Final[dict[int, Cause]] = {
    HTTPStatus.UNAUTHORIZED: Cause.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN: Cause.FORBIDDEN,
    HTTPStatus.NOT_FOUND: Cause.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED: Cause.METHOD_NOT_ALLOWED,
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

    def __init__(self, detail: str, cause: Cause = Cause.UNREACHABLE) -> None:
        super().__init__(NOT_REACHABLE, Outcome.NOT_SENT, detail, cause)


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
    return unusable(detail, REFUSED, CAUSES_OF_STATUSES.get(status, Cause.HTTP_STATUS))


def too_large(detail: str) -> UpstreamError:
    return UpstreamError(TOO_LARGE, Outcome.TOO_LARGE, detail)
