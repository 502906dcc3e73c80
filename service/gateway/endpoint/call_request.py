"""A call as an agent's client asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Self

from aiohttp import web

from service.gateway.definition import canonical_json
from service.gateway.endpoint.catalog import Tool
from service.gateway.endpoint.client_sessions import inputs_of
from service.gateway.endpoint.reply import Reply
from service.gateway.endpoint.trace_context import TraceContext
from service.gateway.endpoint.traces import CallTrace
from service.gateway.gate import Call, Caller
from service.gateway.protocol.errors import INVALID_PARAMS, RpcError
from service.gateway.protocol.headers import check_parameters
from service.gateway.protocol.messages import Message
from service.gateway.upstream.dialects import AgentClient
from service.http.telemetry import REQUEST_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A request for a call; ``capabilities`` are those that its client declared.

    ``trace`` is None unless calls are traced. ``is_searched``: the client calls by the
    gateway's own tool, and doesn't know what of the arguments headers repeat.
    """

    request: web.Request
    caller: Caller
    message: Message
    tool: Tool
    is_stateless: bool
    capabilities: Mapping[str, Any]
    reply: Reply
    context: TraceContext
    trace: CallTrace | None = None
    is_searched: bool = False
    started: float = field(default_factory=perf_counter)

    @property
    def askable(self) -> Mapping[str, Any]:
        """By which capabilities the client can be asked for something within the call.

        A stateless client can't: it gets a result that asks, and calls again.
        """
        return {} if self.is_stateless else inputs_of(self.capabilities)

    @property
    def client(self) -> AgentClient:
        return AgentClient.of(self.caller, self.askable)

    def answering(self, answers: Mapping[str, Any]) -> Self:
        """Return the call's next round, with the client's answers."""
        params = {**self.message.params, "inputResponses": answers}
        message = Message(self.message.id, self.message.method, params)
        return replace(self, message=message, started=perf_counter())

    def call(self) -> Call:
        """Return the call to decide on.

        :raises RpcError: its arguments are no object, or differ from the headers
        """
        arguments = self.message.params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "params.arguments must be an object")
        is_checked = self.is_stateless and not self.is_searched
        if is_checked and self.tool.mirrored:
            check_parameters(self.tool.mirrored, arguments, self.request.headers)
        return Call(
            connector_id=self.tool.listed.connector.connector_id,
            tool=self.tool.listed.definition.name,
            arguments=canonical_json(arguments),
            request_id=self.request[REQUEST_ID],
            traceparent=self.context.sent.get("traceparent"),
            session_id=self.context.session_id,
            trace_id=self.context.trace_id,
        )
