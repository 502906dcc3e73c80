"""Errors of JSON-RPC and MCP."""

from typing import Any, Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_REVISION: Final = -32022

# Statuses of the stateless revision; others answer 200 once a message is readable.
_STATUS: Final = {METHOD_NOT_FOUND: 404, INTERNAL_ERROR: 500}


class RpcError(Exception):
    """An error that the agent's client is told about; the message is for it."""

    def __init__(self, code: int, message: str, *, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def status(self) -> int:
        """The HTTP status in the stateless revision."""
        return _STATUS.get(self.code, 400)

    def to_json(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error
