"""Open the connections that calls are sent on, decided before, and anew afterwards."""

import asyncio
from typing import Final

from service.circuit_breaker import CircuitBreaker
from service.errors import ServiceError, UnauthenticatedError, UnavailableError
from service.gateway.endpoint.client_call import ClientCall
from service.gateway.endpoint.failed_calls import FailedCalls
from service.gateway.gate import (
    Gate,
    MovedError,
    Outcome,
    Pending,
    RefusalReason,
    Refused,
    Upstream,
)
from service.gateway.upstream.client import Channel, UpstreamClient
from service.gateway.upstream.errors import (
    NO_ANSWER,
    NotConnectedError,
    NotSentError,
    UpstreamError,
)
from service.http.disconnect import (
    ClientLeftError,
    cancelled_on_disconnect,
    refuse_if_client_left,
)

ATTEMPTS_MAX: Final = 3
CHANGES: Final = "it changes all the time"


class Channels:
    """Opens channels for calls that are allowed so far."""

    def __init__(
        self, gate: Gate, client: UpstreamClient, failed_calls: FailedCalls
    ) -> None:
        self._gate = gate
        self._failed_calls = failed_calls
        self._client = client

    async def open(
        self,
        call: ClientCall,
        breaker: CircuitBreaker,
        until: float,
    ) -> Channel | Refused | Pending:
        """Return a channel; nothing is admitted, and no approval is used up.

        Where there is none, that is recorded as a refusal of the call.

        :raises ConnectionError: the agent's client has left
        """
        for _ in range(ATTEMPTS_MAX):
            prepared = await self._gate.prepare(call.request)
            if not isinstance(prepared, Upstream):
                return prepared
            try:
                return await self._opened(call, prepared, breaker, until)
            except MovedError:
                continue
            except UpstreamError as error:
                return await self.refuse(call, error)
            except TimeoutError:
                late = UpstreamError(NO_ANSWER, Outcome.TIMEOUT, "too late")
                return await self.refuse(call, late)
            except (UnauthenticatedError, UnavailableError):
                raise
            except ServiceError as error:
                reason = RefusalReason.CREDENTIAL_MISSING
                await self._gate.refused(call.request, reason)
                return Refused(reason=reason, message=error.message)
            except (asyncio.CancelledError, ConnectionError):
                reason = RefusalReason.CANCELLED
                await self._gate.refused(call.request, reason)
                raise
        return await self.refuse(call, NotSentError(CHANGES))

    async def _opened(
        self,
        call: ClientCall,
        upstream: Upstream,
        breaker: CircuitBreaker,
        until: float,
    ) -> Channel:
        try:
            with cancelled_on_disconnect(call.http):
                async with asyncio.timeout_at(until):
                    return await self._client.open_channel(
                        upstream, call.client, on_connected=breaker.succeeded
                    )
        except NotConnectedError:
            breaker.failed()
            raise

    async def refuse_if_client_left(self, call: ClientCall) -> None:
        """Record a call that nobody waits for: admitted, it would use its approval up.

        :raises ClientLeftError: the agent's client has left, or has cancelled the call
        """
        try:
            refuse_if_client_left(call.http)
        except ClientLeftError:
            await self._gate.refused(call.request, RefusalReason.CANCELLED)
            raise

    async def refuse(self, call: ClientCall, error: UpstreamError) -> Refused:
        """Record a call that can't be sent, and say so in the log."""
        self._failed_calls.log(call.tool.listed.connector, error)
        reason = RefusalReason.NOT_CONNECTED
        await self._gate.refused(call.request, reason)
        return Refused(reason=reason, message=error.message)
