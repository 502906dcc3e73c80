"""Tell apart why there is no connection to a server."""

import socket
import ssl
from typing import Final

from service.upstream_http.addresses import AddressRefusedError
from service.upstream_http.errors import ConnectCause, ConnectError

# X509_V_ERR_..., as OpenSSL numbers them; other certificates are just not trusted.
CERTIFICATES: Final = {
    9: "it isn't valid yet",
    10: "it has expired",
    18: "it is self-signed",
    19: "its authority isn't known",
    20: "its authority isn't known",
    21: "the server doesn't send its issuer's",
    62: "it is of another name",
    64: "it is of another address",
}


def connect_error(error: Exception) -> ConnectError:
    """Return the error of a failed connection; its detail quotes nothing."""
    cause, detail = ConnectCause.UNREACHABLE, type(error).__name__
    match error:
        case AddressRefusedError():
            cause, detail = error.cause, str(error)
        case socket.gaierror():
            cause, detail = ConnectCause.NAME_NOT_FOUND, "the name isn't found"
        case UnicodeError():
            cause, detail = ConnectCause.INVALID_URL, "no valid name"
        case ssl.SSLCertVerificationError():
            cause = ConnectCause.TLS_CERTIFICATE
            detail = CERTIFICATES.get(error.verify_code, "it isn't trusted")
        case ssl.SSLError():
            cause = ConnectCause.TLS_FAILED
        case ConnectionRefusedError():
            cause, detail = ConnectCause.CONNECTION_REFUSED, "connection refused"
        case TimeoutError():
            cause, detail = ConnectCause.CONNECT_TIMEOUT, "no connection in time"
        case ConnectionError():
            cause = ConnectCause.CONNECTION_CLOSED
    return ConnectError(cause, detail)
