"""Revisions of MCP that the gateway speaks, and names that they define.

https://modelcontextprotocol.io/specification has each of them.
"""

from typing import Final

from service import __version__

# Each request stands alone.
STATELESS: Final = "2026-07-28"
# A client says ``initialize`` first. Newest first.
HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
# Without a header, a request after the handshake is of this revision.
HANDSHAKE_WITHOUT_HEADER: Final = "2025-03-26"
SUPPORTED: Final = (STATELESS, *HANDSHAKE)
# Some servers agree on it over Streamable HTTP.
HANDSHAKE_OF_UPSTREAMS: Final = (*HANDSHAKE, "2024-11-05")

RESERVED: Final = "io.modelcontextprotocol/"
REVISION_KEY: Final = RESERVED + "protocolVersion"
CAPABILITIES_KEY: Final = RESERVED + "clientCapabilities"
CLIENT_KEY: Final = RESERVED + "clientInfo"
SERVER_KEY: Final = RESERVED + "serverInfo"
LOG_LEVEL_KEY: Final = RESERVED + "logLevel"

REVISION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
PARAMETER_HEADER: Final = "Mcp-Param-"
SESSION_HEADER: Final = "Mcp-Session-Id"

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"
ACCEPT: Final = f"{JSON}, {EVENT_STREAM}"

IMPLEMENTATION: Final = {"name": "agent-runtime", "version": __version__}
