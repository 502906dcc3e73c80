"""What the gateway says of itself, in each of the two eras."""

from typing import Any, Final

import orjson

from service.gateway.endpoint.catalog import TTL_MS
from service.gateway.protocol.errors import INVALID_PARAMS, RpcError
from service.gateway.protocol.messages import Message
from service.gateway.protocol.revisions import (
    HANDSHAKE,
    IMPLEMENTATION,
    SERVER_KEY,
    SUPPORTED,
)

CAPABILITIES: Final[dict[str, Any]] = {"tools": {}}
DISCOVERED: Final = orjson.Fragment(
    orjson.dumps(
        {
            "resultType": "complete",
            "supportedVersions": SUPPORTED,
            "capabilities": CAPABILITIES,
            "ttlMs": TTL_MS,
            "cacheScope": "private",
            "_meta": {SERVER_KEY: IMPLEMENTATION},
        }
    )
)


def initialized(message: Message) -> dict[str, Any]:
    """Return the negotiated revision: the client's, or the newest of its kind."""
    wanted = message.params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise RpcError(INVALID_PARAMS, "initialize needs params.protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE else HANDSHAKE[0],
        "capabilities": CAPABILITIES,
        "serverInfo": IMPLEMENTATION,
    }
