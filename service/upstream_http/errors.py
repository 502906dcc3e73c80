"""Why nothing was sent to a server, as its callers tell in words of their own."""

from enum import StrEnum


class ConnectCause(StrEnum):
    """Why there is no connection to a server."""

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
    CONNECTION_CLOSED = "connection_closed"


class UnsentError(Exception):
    """Nothing was sent; ``detail`` quotes nothing of the server's, nor of the URL."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class ConnectError(UnsentError):
    """There is no connection."""

    def __init__(self, cause: ConnectCause, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class ConnectionEndedError(UnsentError):
    """The connection that was reserved for the request has ended meanwhile."""
