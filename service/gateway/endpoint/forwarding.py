"""Forward admitted calls, relay what upstreams say meanwhile, record how they end."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final
from uuid import UUID

from cachetools import LRUCache

from service.circuit_breaker import CircuitBreaker
from service.errors import ServiceError
from service.gateway.endpoint.call_request import CallRequest
from service.gateway.endpoint.request_state import RequestState
from service.gateway.endpoint.results import failed, inputs_of, result_of_upstream
from service.gateway.gate import Admitted, Gate, Outcome
from service.gateway.metrics import count_finished
from service.gateway.protocol.headers import parameter_headers
from service.gateway.protocol.revisions import LOG_LEVEL_KEY
from service.gateway.upstream.client import Exchange, UpstreamClient
from service.gateway.upstream.connections import CALL_S
from service.gateway.upstream.errors import (
    NO_ANSWER,
    WANTS_INPUT,
    NotConnectedError,
    UpstreamError,
    unusable,
)
from service.gateway.upstream.requests import Request
from service.http.disconnect import cancelled_on_disconnect

CONNECTORS_MAX: Final = 4096
PROGRESS: Final = "notifications/progress"
LOG: Final = "notifications/message"
LIST_CHANGED: Final = "notifications/tools/list_changed"
# The levels of log messages, the least severe first.
LOG_LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
# Of a client with a handshake, which can't say in a call which it wants.
LOG_LEVEL: Final = "info"
# Fields of each notification that are relayed.
RELAYED: Final = {
    PROGRESS: ("progress", "total", "message"),
    LOG: ("level", "logger", "data"),
}

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Forwarding:
    """An admitted call; ``held_s`` is how long a person was waited for before.

    What forwarding it took is filled in, also when it fails.
    """

    asked: CallRequest
    admitted: Admitted
    state: RequestState | None = None
    held_s: float = 0.0
    outcome: Outcome = Outcome.UPSTREAM_ERROR
    upstream_s: float | None = None
    request_bytes: int = 0
    answer_bytes: int = 0


class Forwarder:
    """Forwards calls, each once, and notes which connectors can't be reached."""

    def __init__(
        self,
        gate: Gate,
        client: UpstreamClient,
        *,
        on_list_changed: Callable[[UUID], None],
    ) -> None:
        self._gate = gate
        self._client = client
        self._on_list_changed = on_list_changed
        self._breakers: LRUCache[int, CircuitBreaker] = LRUCache(CONNECTORS_MAX)

    def breaker(self, connector_id: UUID) -> CircuitBreaker:
        """Return what says whether a connector may be called, or is suspended."""
        # By its number: hashing a UUID takes a call of a Python function.
        key = connector_id.int
        breaker = self._breakers.get(key)
        if breaker is None:
            breaker = self._breakers[key] = CircuitBreaker()
        return breaker

    async def run(self, call: Forwarding) -> dict[str, Any]:
        """Return the tool's result, or a tool error that says why there is none.

        :raises RpcError: the upstream refused the parameters
        :raises ConnectionError: the agent's client has left
        """
        try:
            with cancelled_on_disconnect(call.asked.request):
                async with call.asked.reply.kept_alive(), asyncio.timeout(CALL_S):
                    result = await self._forward(call)
        except UpstreamError as error:
            call.outcome = error.outcome
            return _explained(call, error)
        except TimeoutError:
            call.outcome = Outcome.TIMEOUT
            return failed(NO_ANSWER)
        except ServiceError as error:
            # The credential can't be revealed.
            call.outcome = Outcome.NOT_SENT
            return failed(error.message)
        except (asyncio.CancelledError, ConnectionError):
            call.outcome = Outcome.CANCELLED
            raise
        else:
            is_error = result.get("isError") is True
            call.outcome = Outcome.TOOL_ERROR if is_error else Outcome.OK
            return result
        finally:
            await self._finish(call)

    async def _forward(self, call: Forwarding) -> dict[str, Any]:
        upstream, caller = call.admitted.upstream, call.asked.caller
        breaker = self.breaker(upstream.connector_id)
        started = None
        try:
            dialect = await self._client.prepare(
                upstream, caller, on_connected=breaker.succeeded
            )
            started = perf_counter()
            trace = call.asked.trace
            with (
                trace.forwarded(call.admitted, dialect.revision)
                if trace
                else nullcontext()
            ) as forwarded:
                context = forwarded.context if forwarded else {}
                request = _request(call, context)
                exchange = self._client.exchange(
                    upstream, caller, dialect, request, on_connected=breaker.succeeded
                )
                async with exchange:
                    call.request_bytes = exchange.request_bytes
                    try:
                        message = await self._answer(exchange, call)
                    finally:
                        call.answer_bytes = exchange.answer_bytes
                if forwarded:
                    forwarded.sent(exchange.id)
                    forwarded.answered(message)
        except NotConnectedError:
            breaker.failed()
            raise
        finally:
            if started is not None:
                call.upstream_s = perf_counter() - started
        return result_of_upstream(
            message, call.asked.capabilities, is_stateless=call.asked.is_stateless
        )

    async def _answer(self, exchange: Exchange, call: Forwarding) -> dict[str, Any]:
        """Return the answer; relay what precedes it."""

        async def notified(message: dict[str, Any]) -> None:
            method = message["method"]
            if "id" in message:
                raise unusable("it asked the client", WANTS_INPUT)
            if method == LIST_CHANGED:
                self._on_list_changed(call.admitted.upstream.connector_id)
            elif isinstance(method, str) and method in RELAYED:
                await _relay(method, message.get("params"), exchange, call.asked)

        return await exchange.answer(notified)

    async def _finish(self, call: Forwarding) -> None:
        duration_s = perf_counter() - call.asked.started
        upstream_s = call.upstream_s
        own_s = duration_s - call.held_s - (upstream_s or 0.0)
        count_finished(call.outcome, own_s, upstream_s)
        await self._gate.finished(
            call.admitted.call_id,
            outcome=call.outcome,
            duration_ms=round(duration_s * 1000),
            upstream_ms=None if upstream_s is None else round(upstream_s * 1000),
            request_bytes=call.request_bytes,
            answer_bytes=call.answer_bytes,
        )


def _request(call: Forwarding, context: Mapping[str, str]) -> Request:
    asked, definition = call.asked, call.admitted.definition
    given, meta = asked.message.params, asked.message.meta
    params = {"name": definition.name, "arguments": given.get("arguments", {})}
    state = call.state
    if state is not None and state.inner is not None:
        params["requestState"] = state.inner
    # The answer to a link to the approval is for the gateway.
    if "inputResponses" in given and (state is None or state.kind == "upstream"):
        params["inputResponses"] = given["inputResponses"]
    sent = {**asked.context.sent, **context}
    level = _log_level(asked)
    if level is not None:
        sent[LOG_LEVEL_KEY] = level
    mirrored = asked.tool.mirrored
    return Request(
        method="tools/call",
        name=definition.name,
        params=params,
        meta=sent,
        wants_progress="progressToken" in meta,
        capabilities=inputs_of(asked.capabilities),
        mirrored=parameter_headers(mirrored, params["arguments"]) if mirrored else {},
    )


async def _relay(
    method: str, params: Any, exchange: Exchange, asked: CallRequest
) -> None:
    if not isinstance(params, dict):
        return
    relayed = {name: params[name] for name in RELAYED[method] if name in params}
    if method == PROGRESS:
        meta = asked.message.meta
        # The exchange's id was the upstream's token.
        if "progressToken" not in meta or params.get("progressToken") != exchange.id:
            return
        relayed["progressToken"] = meta["progressToken"]
    elif not _is_logged(params.get("level"), _log_level(asked)):
        return
    await asked.reply.notify({"jsonrpc": "2.0", "method": method, "params": relayed})


def _log_level(asked: CallRequest) -> Any:
    """Return from which level on the client wants log messages; None for none."""
    return asked.message.meta.get(LOG_LEVEL_KEY) if asked.is_stateless else LOG_LEVEL


def _is_logged(level: Any, wanted: Any) -> bool:
    return (
        level in LOG_LEVELS
        and wanted in LOG_LEVELS
        and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)
    )


def _explained(call: Forwarding, error: UpstreamError) -> dict[str, Any]:
    logger.warning(
        "a tool call failed: %s",
        error.detail or error.message,
        extra={
            "connector_id": str(call.admitted.upstream.connector_id),
            "call_id": str(call.admitted.call_id),
        },
    )
    return failed(error.message)
