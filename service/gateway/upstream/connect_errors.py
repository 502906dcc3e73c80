"""Tell apart why there is no connection to an upstream."""

import socket
import ssl
from typing import Final

from service.gateway.upstream.addresses import AddressRefusedError
from service.gateway.upstream.errors import Cause, NotConnectedError

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


def not_connected(error: Exception) -> NotConnectedError:
    """Return the error of a failed connection; its detail quotes nothing."""
    return NotConnectedError(*_told_apart(error))


def _told_apart(error: Exception) -> tuple[str, Cause]:
    found: tuple[str, Cause] = (type(error).__name__, Cause.UNREACHABLE)
    match error:
        case AddressRefusedError():
            found = (str(error), error.cause)
        case socket.gaierror():
            found = ("the name isn't found", Cause.NAME_NOT_FOUND)
        case UnicodeError():
            found = ("no valid name", Cause.INVALID_URL)
        case ssl.SSLCertVerificationError():
            why = CERTIFICATES.get(error.verify_code, "it isn't trusted")
            found = (why, Cause.TLS_CERTIFICATE)
        case ssl.SSLError():
            found = (type(error).__name__, Cause.TLS_FAILED)
        case ConnectionRefusedError():
            found = ("connection refused", Cause.CONNECTION_REFUSED)
        case TimeoutError():
            found = ("no connection in time", Cause.CONNECT_TIMEOUT)
        case ConnectionError():
            found = (type(error).__name__, Cause.CONNECTION_CLOSED)
    return found
