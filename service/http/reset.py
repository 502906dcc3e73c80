"""Cut off a connection whose client doesn't read."""

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Final

# SO_LINGER: on, for no time.
_DISCARD: Final = struct.pack("ii", 1, 0)


def reset(transport: asyncio.WriteTransport) -> None:
    """Abort a connection, and discard what the system still holds for the client.

    It would keep megabytes, and offer them to the client, for minutes.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None:
        # It may be closed already; uvloop has another error for that.
        with suppress(OSError, ValueError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DISCARD)
    transport.abort()
