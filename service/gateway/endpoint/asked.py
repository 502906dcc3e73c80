"""A call as an agent's client asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final
from urllib.parse import unquote

from aiohttp import web

from service.gateway.definition import canonical_json
from service.gateway.endpoint.catalog import Tool
from service.gateway.endpoint.reply import Reply
from service.gateway.gate import Call, Caller
from service.gateway.protocol.errors import INVALID_PARAMS, RpcError
from service.gateway.protocol.headers import check_parameters
from service.gateway.protocol.messages import Message
from service.http.telemetry import REQUEST_ID, TRACEPARENT, valid_traceparent

SESSION: Final = "session.id"
SESSION_CHARACTERS_MAX: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request for a call; ``capabilities`` are those that its client declared."""

    request: web.Request
    caller: Caller
    message: Message
    tool: Tool
    is_stateless: bool
    capabilities: Mapping[str, Any]
    reply: Reply
    started: float = field(default_factory=perf_counter)

    def call(self) -> Call:
        """Return the call to decide on.

        :raises RpcError: its arguments are no object, or differ from the headers
        """
        arguments = self.message.params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "params.arguments must be an object")
        if self.is_stateless and self.tool.mirrored:
            check_parameters(self.tool.mirrored, arguments, self.request.headers)
        traceparent = self._traceparent()
        return Call(
            connector_id=self.tool.listed.connector.connector_id,
            tool=self.tool.listed.definition.name,
            arguments=canonical_json(arguments),
            request_id=self.request[REQUEST_ID],
            traceparent=traceparent,
            session_id=self._session_id(),
            trace_id=traceparent.split("-")[1] if traceparent else None,
        )

    def _traceparent(self) -> str | None:
        given = self.message.meta.get("traceparent")
        return valid_traceparent(given) or self.request.get(TRACEPARENT)

    def _session_id(self) -> str | None:
        """Return the session that the baggage names, as OpenTelemetry does."""
        baggage = self.message.meta.get("baggage") or self.request.headers.get(
            "baggage"
        )
        if not isinstance(baggage, str):
            return None
        for member in baggage.split(","):
            name, _, value = member.partition(";")[0].partition("=")
            if name.strip() == SESSION:
                return unquote(value.strip())[:SESSION_CHARACTERS_MAX] or None
        return None
