"""A call as an agent's client asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Self
from uuid import UUID

from aiohttp import web

from service.gateway.definition import canonical_json
from service.gateway.endpoint.catalog import Tool
from service.gateway.endpoint.client_sessions import (
    capabilities_of,
    inputs_of,
    session_of,
)
from service.gateway.endpoint.incoming import Incoming
from service.gateway.endpoint.reply import Reply
from service.gateway.endpoint.traces import CallTrace
from service.gateway.gate import CallRequest
from service.gateway.protocol.errors import INVALID_PARAMS, RpcError
from service.gateway.protocol.headers import check_parameters
from service.gateway.protocol.messages import Message
from service.gateway.protocol.revisions import CAPABILITIES_KEY
from service.gateway.upstream.dialects import AgentClient
from service.http.telemetry import REQUEST_ID
from service.http.trace_context import TraceContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCall:
    """A call of a client, by the ``http`` request that it came with.

    ``request`` is what is decided on. ``capabilities`` are those that the client
    declared. ``trace`` is None unless calls are traced.
    """

    http: web.Request
    request: CallRequest
    message: Message
    tool: Tool
    is_stateless: bool
    capabilities: Mapping[str, Any]
    reply: Reply
    context: TraceContext
    trace: CallTrace | None = None
    started: float = field(default_factory=perf_counter)

    @property
    def askable(self) -> Mapping[str, Any]:
        """By which capabilities the client can be asked for something within the call.

        A stateless client can't: it gets a result that asks, and calls again.
        """
        return {} if self.is_stateless else inputs_of(self.capabilities)

    @property
    def client(self) -> AgentClient:
        return AgentClient.of(self.request.caller, self.askable)

    def answering(self, answers: Mapping[str, Any]) -> Self:
        """Return the call's next round, with the client's answers."""
        params = {**self.message.params, "inputResponses": answers}
        message = Message(self.message.id, self.message.method, params)
        return replace(self, message=message, started=perf_counter())

    def continuing(self, call_id: UUID | None) -> Self:
        """Return this call as the next round of another."""
        return replace(self, request=replace(self.request, continues=call_id))


def client_call(
    incoming: Incoming,
    message: Message,
    tool: Tool,
    context: TraceContext,
    trace: CallTrace | None,
) -> ClientCall:
    """Return the call that an incoming message means.

    ``message`` is another where its client called by the gateway's own tool.

    :raises RpcError: its arguments are no object, or differ from the headers
    """
    http, is_stateless = incoming.request, incoming.is_stateless
    arguments = message.params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "params.arguments must be an object")
    # Who calls by the gateway's own tool doesn't know which of them headers repeat.
    if is_stateless and tool.mirrored and message is incoming.message:
        check_parameters(tool.mirrored, arguments, http.headers)
    return ClientCall(
        http=http,
        request=CallRequest(
            caller=incoming.caller,
            connector_id=tool.listed.connector.connector_id,
            tool=tool.listed.definition.name,
            arguments=canonical_json(arguments),
            request_id=http[REQUEST_ID],
            traceparent=context.sent.get("traceparent"),
            session_id=context.session_id,
            trace_id=context.trace_id,
        ),
        message=message,
        tool=tool,
        is_stateless=is_stateless,
        capabilities=(
            message.meta[CAPABILITIES_KEY]
            if is_stateless
            else capabilities_of(session_of(http))
        ),
        reply=incoming.reply,
        context=context,
        trace=trace,
        started=incoming.started,
    )
