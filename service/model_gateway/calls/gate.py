"""Decides on model calls: before there is a connection, and again when they leave."""

import asyncio
from collections.abc import AsyncIterator, Container, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from aiohttp import web

from service.agent_tokens.authenticate import AgentAuthenticator, valid_token
from service.agent_tokens.caller import Caller
from service.call_recording.modes import RecordMode
from service.call_recording.recorder import CallRecorder, recording_calls
from service.errors import ServiceError, UnauthenticatedError
from service.event_log.append import OutcomeUnknownError
from service.event_log.execute import Decide, execute
from service.event_log.latest import LatestFacts
from service.event_log.log import EventLog
from service.http.authentication import count_refused_token
from service.identifiers import id_text
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.model_gateway.calls.admission import (
    Admission,
    admission_of,
    admit,
    batched_call,
)
from service.model_gateway.calls.call_record import CallOutcome, CallRecord
from service.model_gateway.calls.deciding import (
    CallRequest,
    RoutedCall,
    route_call,
    secret_of,
)
from service.model_gateway.calls.listing import CallableModel, callable_models
from service.model_gateway.calls.recorder import (
    AdmittedCall,
    ModelCallEvents,
    ModelCallRecorder,
    refused_calls,
)
from service.model_gateway.routing.plan import PlannedTarget
from service.secrets.sent import Credential, NamedSecret
from service.users.tokens import AGENT_PREFIX

API_KEY: Final = "x-api-key"

Decided = TypeVar("Decided")


# The weaker promise of ``batched``: what a decision reads is at most this old.
BATCHED_AGE_MAX_S: Final = 1.0


class ModelGate:
    """Decides on aggregates of the log, and records through it."""

    def __init__(self, log: EventLog, key_ring: KeyRing, vault: Vault) -> None:
        self._log = log
        self._vault = vault
        self.recorder: ModelCallRecorder = CallRecorder(log, ModelCallEvents())
        self._authenticator = AgentAuthenticator(log, key_ring.token_hash)

    async def caller(self, request: web.Request, agent_id: UUID) -> Caller:
        """Return who calls, by a token in ``Authorization`` or ``x-api-key``.

        :raises UnauthenticatedError: no token, or none that is valid for this agent
        :raises NotFoundError: the agent is retired
        :raises TooManyRequestsError: too many refused tokens from this address
        """
        header = _authorization(request)
        try:
            return await self._authenticator.authenticate(
                header, agent_id, datetime.now(UTC)
            )
        except UnauthenticatedError:
            count_refused_token(request, header)
            raise

    async def plan(self, call: CallRequest) -> RoutedCall:
        """Return what answers a call, as far as this process knows.

        :raises ServiceError: nothing does, by the log as it is
        """
        self.recorder.refuse_if_full()
        try:
            return await route_call(call, LatestFacts(self._log))
        except ServiceError:
            return await self._decided(call, partial(route_call, call))

    async def models(
        self, caller: Caller, dialects: Container[str]
    ) -> Sequence[CallableModel]:
        """Return what the caller may call in one of some dialects, likewise."""
        finder = LatestFacts(self._log)
        return await callable_models(caller.agent_id, dialects, finder)

    async def admit(
        self,
        call: CallRequest,
        record: CallRecord,
        target: PlannedTarget,
        opened: NamedSecret | None,
    ) -> Admission | None:
        """Decide on a call when nothing but it is left to send, and record that.

        It may be sent if the admission's secret is the one that was opened. None if the
        target isn't one of the call's any more, or goes elsewhere.

        :raises ServiceError: it may not be made any more
        """
        is_strict = record.mode is RecordMode.STRICT or record.is_doubtful
        if not is_strict and record.planned is RecordMode.BATCHED:
            found = await self._admit_batched(call, record, target, opened)
            if found is not None or record.mode is RecordMode.BATCHED:
                return found
        try:
            admission = await self._decided(
                call, partial(admit, call, record, target, opened)
            )
        except (asyncio.CancelledError, OutcomeUnknownError):
            # The log may have it, or append it all the same.
            record.is_doubtful = True
            raise
        if admission is not None and admission.secret == opened:
            _note(record, admission, RecordMode.STRICT)
        return admission

    async def _admit_batched(
        self,
        call: CallRequest,
        record: CallRecord,
        target: PlannedTarget,
        opened: NamedSecret | None,
    ) -> Admission | None:
        """Decide on what this process knows; None if that takes the strict way.

        :raises ServiceError: what was admitted in a batch may not be sent once more
        """
        await self._log.refresh(BATCHED_AGE_MAX_S)
        latest = LatestFacts(self._log)
        try:
            await valid_token(latest, call.caller, datetime.now(UTC))
            admission = await admission_of(call, target, latest)
        except ServiceError:
            if record.mode is None:
                return None
            raise
        if admission is None or admission.routed.mode is not RecordMode.BATCHED:
            return None
        if admission.secret == opened:
            self.recorder.batched(
                call.caller.agent_id,
                id_text(call.caller.token_id),
                AdmittedCall(
                    batched_call(record, admission),
                    opened.used if opened else None,
                ),
            )
            _note(record, admission, RecordMode.BATCHED)
        return admission

    def ended(self, record: CallRecord) -> None:
        """Record how a call has ended, or that it was refused; returns before that."""
        record.duration_ms = record.elapsed_ms()
        if record.outcome is None:
            # Its client has left, or doesn't read.
            record.outcome = CallOutcome.CANCELLED
        if record.mode is RecordMode.BATCHED:
            self.recorder.batched_ended(record.caller.agent_id, record)
        elif record.mode is RecordMode.STRICT or record.is_doubtful:
            self.recorder.ended(record)
        else:
            self.recorder.refused(refused_calls(record))

    async def running(self, _app: web.Application) -> AsyncIterator[None]:
        """Record in the background while the application runs."""
        async with recording_calls(self.recorder):
            yield

    async def secret(self, target: PlannedTarget) -> NamedSecret | None:
        """Return the secret of a target's calls, as far as this process knows."""
        return await secret_of(target, LatestFacts(self._log))

    def credential(self, secret: NamedSecret) -> Credential:
        return secret.credential(self._vault)

    async def _decided(self, call: CallRequest, decide: Decide[Decided]) -> Decided:
        decided, _ = await execute(
            self._log,
            decide,
            metadata=call.caller.metadata(call.request_id, call.traceparent),
            at=datetime.now(UTC),
        )
        return decided


def _note(record: CallRecord, admission: Admission, mode: RecordMode) -> None:
    record.mode, record.target = mode, admission.target
    record.times_admitted += 1


def presented_token(request: web.Request) -> str:
    """Return the token by which a request was authenticated."""
    return (_authorization(request) or "").rpartition(" ")[2]


def _authorization(request: web.Request) -> str | None:
    """Return the header that names the agent's token.

    Clients of Anthropic's API send ``x-api-key``, some beside an ``Authorization``
    that is for somebody else.
    """
    header = request.headers.get("Authorization")
    key = request.headers.get(API_KEY)
    if key is None or AGENT_PREFIX in (header or ""):
        return header
    return f"Bearer {key}"
