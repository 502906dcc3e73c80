"""The address that a process listens on, checked before anything else is started."""

import socket

from service.errors import StartError


def require_free_address(host: str, port: int) -> None:
    """Check that the address can be listened on.

    :raises StartError: it can't
    """
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as tried:
                # As the listener does: connections of an earlier process don't count.
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                tried.bind(address)
    except OSError as error:
        raise cannot_listen(host, port, error) from None


def cannot_listen(host: str, port: int, error: OSError) -> StartError:
    return StartError(
        f"can't listen on {host}, port {port}: {error.strerror or error}; choose "
        "another by --port (make serve PORT=...) or --host"
    )
