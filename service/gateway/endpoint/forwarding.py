"""Forward admitted calls, relay what upstreams say meanwhile, record how they end."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Final
from uuid import UUID

from cachetools import LRUCache

from service.circuit_breaker import CircuitBreaker
from service.errors import ServiceError
from service.gateway.endpoint.call_stream import CallStream
from service.gateway.endpoint.channels import ATTEMPTS_MAX, CHANGES, Channels
from service.gateway.endpoint.client_call import ClientCall
from service.gateway.endpoint.client_sessions import inputs_of
from service.gateway.endpoint.failed_calls import FailedCalls
from service.gateway.endpoint.notifications import log_level
from service.gateway.endpoint.questions import Questions
from service.gateway.endpoint.request_state import RequestState
from service.gateway.endpoint.results import failed, result_of_upstream
from service.gateway.gate import (
    Admission,
    Gate,
    MovedError,
    Outcome,
    Pending,
    Refused,
)
from service.gateway.metrics import count_finished
from service.gateway.protocol.headers import parameter_headers
from service.gateway.protocol.revisions import LOG_LEVEL_KEY
from service.gateway.upstream.client import Channel, UpstreamClient
from service.gateway.upstream.errors import (
    NO_ANSWER,
    NotSentError,
    NotTakenError,
    UpstreamError,
)
from service.gateway.upstream.exchange import Exchange
from service.gateway.upstream.requests import UpstreamRequest
from service.http.disconnect import cancelled_on_disconnect

CONNECTORS_MAX: Final = 4096


@dataclass(slots=True, kw_only=True)
class Forwarding:
    """A call to be admitted and forwarded.

    ``held_s`` is how long a person was waited for before, ``is_moved`` whether the
    connector has another URL than the one that the agent's list came from.
    What forwarding it took is filled in, also when it fails.
    """

    call: ClientCall
    state: RequestState | None = None
    held_s: float = 0.0
    admission: Admission | None = None
    is_moved: bool = False
    outcome: Outcome = Outcome.UPSTREAM_ERROR
    upstream_s: float | None = None
    request_bytes: int = 0
    answer_bytes: int = 0

    def repeat(self, admission: Admission) -> None:
        """Begin anew: the upstream hasn't taken it. Its approval holds on."""
        if admission.is_approved:
            self.call = self.call.continuing(admission.call_id)
        self.outcome, self.upstream_s = Outcome.UPSTREAM_ERROR, None
        self.request_bytes = self.answer_bytes = 0


class Forwarder:
    """Forwards calls, each once, and notes which connectors can't be reached."""

    def __init__(
        self,
        gate: Gate,
        client: UpstreamClient,
        *,
        questions: Questions,
        on_list_changed: Callable[[UUID], None],
    ) -> None:
        self._gate = gate
        self._client = client
        self._failed_calls = FailedCalls()
        self._channels = Channels(gate, client, self._failed_calls)
        self._questions = questions
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

    async def run(self, forwarding: Forwarding) -> dict[str, Any] | Refused | Pending:
        """Return the tool's result, or a tool error that says why there is none.

        It is admitted when nothing but the message is left to send, however long it
        takes until then. What the upstream hasn't taken is decided, and sent, anew.

        :raises RpcError: the upstream refused the parameters
        :raises ConnectionError: the agent's client has left
        """
        until = asyncio.get_running_loop().time() + self._client.bounds.call_s
        async with forwarding.call.reply.kept_alive():
            for attempt in range(ATTEMPTS_MAX):
                channel = await self._channel(forwarding, until)
                forwarding.is_moved = False
                if not isinstance(channel, Channel):
                    return channel
                try:
                    await self._channels.refuse_if_client_left(forwarding.call)
                    admission = await self._gate.admit(
                        forwarding.call.request, url=channel.upstream.url
                    )
                    if not isinstance(admission, Admission):
                        return admission
                    forwarding.admission = admission
                    return await self._send(forwarding, admission, channel, until)
                except MovedError:
                    forwarding.is_moved = True
                except NotTakenError as error:
                    assert forwarding.admission is not None, "it was about to be sent"
                    if attempt + 1 == ATTEMPTS_MAX:
                        return self._explained(forwarding.admission, error)
                    forwarding.repeat(forwarding.admission)
                finally:
                    channel.release()
        return await self._channels.refuse(forwarding.call, NotSentError(CHANGES))

    async def _channel(
        self, forwarding: Forwarding, until: float
    ) -> Channel | Refused | Pending:
        call = forwarding.call
        upstream = call.tool.listed.connector
        breaker = self.breaker(upstream.connector_id)
        kept = None
        if not forwarding.is_moved:
            kept = self._client.kept_channel(upstream, call.client)
        if kept is None:
            return await self._channels.open(call, breaker, until)
        breaker.succeeded()
        return kept

    async def _send(
        self,
        forwarding: Forwarding,
        admission: Admission,
        channel: Channel,
        until: float,
    ) -> dict[str, Any]:
        """Send an admitted call, and record how it ends.

        :raises NotTakenError: it may be sent again
        """
        call = forwarding.call
        if call.trace:
            call.trace.admitted(admission)
        try:
            with cancelled_on_disconnect(call.http):
                async with asyncio.timeout_at(until):
                    result = await self._exchange(forwarding, admission, channel)
        except UpstreamError as error:
            forwarding.outcome = error.outcome
            if isinstance(error, NotTakenError):
                raise
            return self._explained(admission, error)
        except TimeoutError:
            forwarding.outcome = Outcome.TIMEOUT
            late = UpstreamError(NO_ANSWER, forwarding.outcome, "too late")
            return self._explained(admission, late)
        except ServiceError as error:
            # The credential can't be revealed.
            forwarding.outcome = Outcome.NOT_SENT
            return failed(error.message)
        except (asyncio.CancelledError, ConnectionError):
            forwarding.outcome = Outcome.CANCELLED
            raise
        else:
            is_error = result.get("isError") is True
            forwarding.outcome = Outcome.TOOL_ERROR if is_error else Outcome.OK
            self._failed_calls.answered(admission.upstream)
            return result
        finally:
            await self._finish(forwarding, admission)

    async def _exchange(
        self, forwarding: Forwarding, admission: Admission, channel: Channel
    ) -> dict[str, Any]:
        call, trace = forwarding.call, forwarding.call.trace
        started: float | None = perf_counter()
        try:
            with (
                trace.forwarded(admission, channel.dialect.revision)
                if trace
                else nullcontext()
            ) as forwarded:
                context = forwarded.context if forwarded else {}
                request = _upstream_request(call, forwarding.state, admission, context)
                exchange = Exchange(self._client, admission.upstream, channel, request)
                changed = partial(self._on_list_changed, call.request.connector_id)
                stream = CallStream(exchange, call, self._questions, changed)
                async with stream.relaying_questions(), exchange:
                    forwarding.request_bytes = exchange.request_bytes
                    try:
                        answer = await exchange.answer(stream.notified)
                    finally:
                        forwarding.answer_bytes = exchange.answer_bytes
                if forwarded:
                    forwarded.sent(exchange.id)
                    forwarded.record_answer(answer)
        except NotSentError:
            started = None
            raise
        finally:
            if started is not None:
                forwarding.upstream_s = perf_counter() - started
        return result_of_upstream(
            answer, call.capabilities, is_stateless=call.is_stateless
        )

    def _explained(self, admission: Admission, error: UpstreamError) -> dict[str, Any]:
        self._failed_calls.log(admission.upstream, error, admission.call_id)
        return failed(error.message)

    async def _finish(self, forwarding: Forwarding, admission: Admission) -> None:
        duration_s = perf_counter() - forwarding.call.started
        upstream_s = forwarding.upstream_s
        own_s = duration_s - forwarding.held_s - (upstream_s or 0.0)
        count_finished(forwarding.outcome, own_s, upstream_s)
        await self._gate.finished(
            admission.call_id,
            outcome=forwarding.outcome,
            duration_ms=round(duration_s * 1000),
            upstream_ms=None if upstream_s is None else round(upstream_s * 1000),
            request_bytes=forwarding.request_bytes,
            answer_bytes=forwarding.answer_bytes,
        )


def _upstream_request(
    call: ClientCall,
    state: RequestState | None,
    admission: Admission,
    context: Mapping[str, str],
) -> UpstreamRequest:
    definition = admission.definition
    given, meta = call.message.params, call.message.meta
    params = {"name": definition.name, "arguments": given.get("arguments", {})}
    if state is not None and state.inner is not None:
        params["requestState"] = state.inner
    # The answer to a link to the approval is for the gateway.
    if "inputResponses" in given and (state is None or state.kind == "upstream"):
        params["inputResponses"] = given["inputResponses"]
    sent = {**call.context.sent, **context}
    level = log_level(call)
    if level is not None:
        sent[LOG_LEVEL_KEY] = level
    mirrored = call.tool.mirrored
    return UpstreamRequest(
        method="tools/call",
        name=definition.name,
        params=params,
        meta=sent,
        wants_progress="progressToken" in meta,
        capabilities=inputs_of(call.capabilities),
        mirrored=parameter_headers(mirrored, params["arguments"]) if mirrored else {},
    )
