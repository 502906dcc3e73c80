"""The MCP server that agents see: two eras of the protocol, without sessions."""

import logging
from contextlib import AbstractContextManager, nullcontext
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

import psycopg
from aiohttp import web

from service.agent_tokens.caller import Caller
from service.errors import ServiceError
from service.gateway.bounds import DEFAULT_BOUNDS
from service.gateway.endpoint.calls import ToolCalls, UnknownToolError
from service.gateway.endpoint.cancellations import CANCELLED, Cancellations
from service.gateway.endpoint.catalog import ToolCatalog, Tools
from service.gateway.endpoint.client_call import client_call
from service.gateway.endpoint.client_sessions import (
    new_session_id,
)
from service.gateway.endpoint.incoming import Incoming
from service.gateway.endpoint.introduction import DISCOVERED, initialized
from service.gateway.endpoint.questions import Questions
from service.gateway.endpoint.reply import Reply
from service.gateway.endpoint.results import failed
from service.gateway.endpoint.rpc_errors import RPC_ID, refuse_request, rpc_error_of
from service.gateway.endpoint.tool_search import UNKNOWN_NAME
from service.gateway.endpoint.traces import CallTrace, CallTraces, TracedCall
from service.gateway.gate import Gate
from service.gateway.protocol.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RpcError,
)
from service.gateway.protocol.headers import check_stateless, unsupported
from service.gateway.protocol.messages import (
    InvalidMessageError,
    Message,
    error_of,
    parse_message,
    result_of,
)
from service.gateway.protocol.revisions import (
    HANDSHAKE,
    REVISION_HEADER,
    REVISION_KEY,
    SESSION_HEADER,
    STATELESS,
)
from service.http.body import read_json_bytes
from service.http.disconnect import ClientLeftError, is_connected
from service.http.trace_context import TraceContext
from service.unavailable import unavailable

logger = logging.getLogger(__name__)


class AgentServer:
    """Answers the messages of agents."""

    def __init__(
        self,
        gate: Gate,
        calls: ToolCalls,
        cancellations: Cancellations,
        questions: Questions,
        traces: CallTraces | None = None,
        *,
        values_max: int = DEFAULT_BOUNDS.values_max,
    ) -> None:
        self._gate = gate
        self._calls = calls
        self._cancellations = cancellations
        self._questions = questions
        self._traces = traces
        self._values_max = values_max
        self._catalog = ToolCatalog()

    async def answer(
        self, request: web.Request, agent_id: UUID, connector_id: UUID | None
    ) -> web.StreamResponse:
        """Answer a POST; ``connector_id`` None means all connectors of the agent.

        :raises ServiceError: it is refused before its message counts
        """
        refused = refuse_request(request)
        if refused is not None:
            return refused
        caller = await self._gate.caller(request, agent_id)
        body = await read_json_bytes(request)
        reply = Reply(request)
        is_stateless = True
        try:
            message = parse_message(body, self._values_max)
            request[RPC_ID] = message.id
            is_stateless = _is_stateless(message, request)
            if message.id is None or message.method is None:
                if not is_stateless:
                    await self._take(request, caller, message)
                return web.Response(status=202)
            if is_stateless:
                check_stateless(message, request.headers)
            result = await self._result(
                Incoming(request, caller, connector_id, message, reply, is_stateless)
            )
            return await reply.finish(result_of(message.id, result))
        except RpcError as error:
            if isinstance(error, InvalidMessageError):
                request[RPC_ID] = error.id
            has_status = is_stateless or error.code in _UNREADABLE
            status = error.status if has_status else HTTPStatus.OK
            return await reply.finish(error_of(request.get(RPC_ID), error), status)
        except Exception as error:
            if isinstance(error, ClientLeftError) and is_connected(request):
                return await reply.end()
            if reply.response is None:
                raise
            return await _end(reply, request, error)

    async def _take(
        self, request: web.Request, caller: Caller, message: Message
    ) -> None:
        """Take what a client with a handshake says of its calls in flight."""
        if message.method is None and message.id is not None:
            await self._questions.answered(request, caller, message.id, message.params)
        elif message.method == CANCELLED:
            cancelled_id = message.params.get("requestId")
            await self._cancellations.cancel(request, caller, cancelled_id)

    async def _result(self, incoming: Incoming) -> Any:
        match incoming.message.method:
            case "tools/list":
                return await self._list(incoming)
            case "tools/call":
                return await self._call(incoming)
            case "server/discover" if incoming.is_stateless:
                return DISCOVERED
            case "initialize" if not incoming.is_stateless:
                capabilities = incoming.message.params.get("capabilities")
                session_id = new_session_id(capabilities)
                incoming.reply.headers[SESSION_HEADER] = session_id
                return initialized(incoming.message)
            case "ping" | "logging/setLevel" if not incoming.is_stateless:
                return {}
        raise RpcError(METHOD_NOT_FOUND, "method not found")

    async def _list(self, incoming: Incoming) -> Any:
        if incoming.message.params.get("cursor", "") != "":
            raise RpcError(INVALID_PARAMS, "the list has one page: give no cursor")
        tools = await self._tools(incoming)
        return tools.stateless_list if incoming.is_stateless else tools.handshake_list

    async def _call(self, incoming: Incoming) -> dict[str, Any]:
        tools = await self._tools(incoming)
        meant: Message | dict[str, Any] = incoming.message
        if tools.search is not None:
            meant = await tools.search.meant(incoming.message)
        if isinstance(meant, Message):
            try:
                meant = await self._call_tool(incoming, meant, tools)
            except UnknownToolError:
                if meant is incoming.message:
                    raise
                # The tool that the client called is known: models read why it failed.
                meant = failed(UNKNOWN_NAME)
        if not incoming.is_stateless:
            meant.pop("resultType", None)
        return meant

    async def _call_tool(
        self, incoming: Incoming, message: Message, tools: Tools
    ) -> dict[str, Any]:
        name = message.params.get("name")
        tool = tools.by_name.get(name) if isinstance(name, str) else None
        context = TraceContext.of(message.meta, incoming.request.headers)
        with (
            self._cancellable(incoming),
            self._traced(incoming, str(name) if tool else None, context) as trace,
        ):
            if tool is None:
                await self._gate.refused_unlisted(
                    incoming.caller,
                    incoming.connector_id,
                    name,
                    session_id=context.session_id,
                    trace_id=context.trace_id,
                )
                raise UnknownToolError
            result = await self._calls.answer(
                client_call(incoming, message, tool, context, trace)
            )
            if trace:
                trace.ended(result)
        return result

    def _cancellable(self, incoming: Incoming) -> AbstractContextManager[None]:
        # A stateless client cancels by closing its connection.
        if incoming.is_stateless:
            return _NOT_CANCELLABLE
        assert incoming.message.id is not None, "a call without an id is a notification"
        return self._cancellations.cancellable(
            incoming.request, incoming.caller, incoming.message.id
        )

    def _traced(
        self, incoming: Incoming, tool: str | None, context: TraceContext
    ) -> AbstractContextManager[CallTrace | None]:
        if self._traces is None:
            return nullcontext()
        message, headers = incoming.message, incoming.request.headers
        assert message.id is not None, "a call without an id is a notification"
        revision = STATELESS if incoming.is_stateless else headers.get(REVISION_HEADER)
        return self._traces.received(
            TracedCall(
                agent_id=incoming.caller.agent_id,
                id=message.id,
                tool=tool,
                revision=revision,
                context=context,
            )
        )

    async def _tools(self, incoming: Incoming) -> Tools:
        listed = await self._gate.tools(incoming.caller, incoming.connector_id)
        return self._catalog.tools(listed, aliased=incoming.connector_id is None)


def _is_stateless(message: Message, request: web.Request) -> bool:
    """Say which of the two kinds of revisions a message is of.

    :raises RpcError: of none that we speak
    """
    revision = request.headers.get(REVISION_HEADER)
    if REVISION_KEY in message.meta or revision == STATELESS:
        return True
    if revision is None or revision in HANDSHAKE:
        return False
    # A header may have bytes that are no text.
    raise unsupported(revision.encode(errors="replace").decode())


async def _end(
    reply: Reply, request: web.Request, error: Exception
) -> web.StreamResponse:
    """End a stream that has begun: its status can't say any more what happened."""
    assert reply.response is not None
    if isinstance(error, ConnectionError):
        return reply.response
    if isinstance(error, psycopg.OperationalError):
        error = unavailable(error)
        logger.warning(error.message)
    if isinstance(error, ServiceError):
        answer = rpc_error_of(error)
    else:
        logger.error("unexpected error", exc_info=error)
        answer = RpcError(INTERNAL_ERROR, "internal error")
    return await reply.finish(error_of(request[RPC_ID], answer))


_NOT_CANCELLABLE: Final = nullcontext()
# Nobody can be sure which message these answer, whatever the revision.
_UNREADABLE: Final = frozenset({PARSE_ERROR, INVALID_REQUEST})
