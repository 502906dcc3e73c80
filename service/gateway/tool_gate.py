"""The gate over the event log: who calls, what is listed, and what is admitted."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import UUID

from aiohttp import web

from service.agent_tokens.authenticate import AgentAuthenticator, valid_token
from service.agent_tokens.caller import Caller
from service.cache_bounds import DEFAULT_CACHES
from service.call_recording.modes import RecordMode
from service.call_recording.recorder import SYSTEM, CallRecorder, recording_calls
from service.connectors.aggregate import Connector
from service.errors import UnauthenticatedError
from service.event_log.execute import execute
from service.event_log.latest import LatestFacts
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.admission import admit_call
from service.gateway.approvals.answer import wait_for_answer
from service.gateway.approvals.expiry import (
    ApprovalExpiry,
    OverdueApprovals,
    expiring_approvals,
)
from service.gateway.bounds import DEFAULT_BOUNDS, Bounds
from service.gateway.calls.aggregate import BatchedCall, FinishedCall
from service.gateway.calls.recorder import ToolCallEvents, ToolCallRecorder
from service.gateway.deciding import DecidedCall, Verdict, decide_call
from service.gateway.definition import ToolDefinition
from service.gateway.definitions.commands import (
    ObserveDefinitions,
    observe_definitions,
)
from service.gateway.gate import (
    Admission,
    CallRequest,
    ObservedTools,
    Outcome,
    Pending,
    RefusalReason,
    Refused,
    ToolList,
    Upstream,
)
from service.gateway.listings.commands import StartListing, start_listing
from service.gateway.metrics import count_of
from service.gateway.preparation import CallPreparation, metadata_of
from service.gateway.refused_calls import CallRefusals
from service.gateway.schemas.hidden import HiddenCharacters
from service.gateway.tool_lists import ToolLists, upstream_of
from service.http.authentication import count_refused_token
from service.identifiers import id_text
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.tool_rules.decision import Stance

# The weaker promise of ``batched``: what a decision reads is at most this old.
BATCHED_AGE_MAX_S: Final = 1.0
ConnectorsToObserve = Callable[[], Awaitable[Sequence[UUID]]]


class ToolGate:
    """Decides on aggregates of the log, and records through it; implements Gate.

    ``to_observe`` returns the connectors whose tools are to be observed,
    ``overdue_approvals`` agents with approvals that have expired; both from tables.
    """

    def __init__(
        self,
        log: EventLog,
        key_ring: KeyRing,
        vault: Vault,
        *,
        to_observe: ConnectorsToObserve,
        overdue_approvals: OverdueApprovals,
        bounds: Bounds = DEFAULT_BOUNDS,
        hidden_characters: HiddenCharacters = HiddenCharacters.REMOVE,
        cache_bytes_max: int = DEFAULT_CACHES.tool_lists,
    ) -> None:
        self._log = log
        self._key_ring = key_ring
        self._bounds = bounds
        self._vault = vault
        self._authenticator = AgentAuthenticator(log, key_ring.token_hash)
        self._to_observe = to_observe
        self.recorder: ToolCallRecorder = CallRecorder(log, ToolCallEvents())
        self.expiry = ApprovalExpiry(log, overdue_approvals)
        # Calls under way, by the numbers of their ids: how each is recorded.
        self._under_way: dict[int, tuple[UUID, RecordMode]] = {}
        self._lists = ToolLists(log, hidden_characters, cache_bytes_max)
        self._refusals = CallRefusals(log, self.recorder)
        self._preparation = CallPreparation(log, key_ring, vault)

    async def caller(self, request: web.Request, agent_id: UUID) -> Caller:
        header = request.headers.get("Authorization")
        try:
            return await self._authenticator.authenticate(
                header, agent_id, datetime.now(UTC)
            )
        except UnauthenticatedError:
            count_refused_token(request, header)
            raise

    async def tools(self, caller: Caller, connector_id: UUID | None = None) -> ToolList:
        return await self._lists.tools(caller.agent_id, connector_id)

    async def prepare(self, request: CallRequest) -> Upstream | Refused | Pending:
        self.recorder.refuse_if_full()
        prepared = await self._preparation.prepare(request)
        if not isinstance(prepared, Upstream):
            self._not_admitted(request, prepared)
        return prepared

    async def admit(
        self, request: CallRequest, *, url: str | None = None
    ) -> Admission | Refused | Pending:
        self.recorder.refuse_if_full()
        decided = await self._decide_batched(request, url) or await self._admit(
            request, url
        )
        if isinstance(decided, Pending | Refused):
            self._not_admitted(request, decided)
            return decided
        count_of("admitted").inc()
        recorded, caller = decided.recorded, request.caller
        mode = RecordMode.STRICT if recorded else RecordMode.BATCHED
        if recorded is None:
            self.recorder.batched(
                caller.agent_id, id_text(caller.token_id), _batched(request, decided)
            )
        self._under_way[decided.call_id.int] = (caller.agent_id, mode)
        credential = decided.secret.credential(self._vault) if decided.secret else None
        return Admission(
            call_id=decided.call_id,
            upstream=replace(upstream_of(decided.connector), credential=credential),
            definition=self._lists.definition(request.tool, decided.definition),
            is_approved=recorded is not None and recorded.approval_id is not None,
        )

    async def _admit(self, request: CallRequest, url: str | None) -> Verdict:
        admit = partial(
            admit_call, request, url=url, key_ring=self._key_ring, vault=self._vault
        )
        verdict, _ = await execute(
            self._log, admit, metadata=metadata_of(request), at=datetime.now(UTC)
        )
        return verdict

    async def _decide_batched(
        self, request: CallRequest, url: str | None
    ) -> DecidedCall | None:
        """Decide on what this process knows; None if that takes the strict way.

        That is, for a connector that isn't ``batched``, and for all but admissions
        that need no person and send no secret.
        """
        connector = await self._log.load(request.connector_id)
        if (
            not isinstance(connector, Connector)
            or connector.record_mode != RecordMode.BATCHED
        ):
            return None
        await self._log.refresh(BATCHED_AGE_MAX_S)
        latest = LatestFacts(self._log)
        await valid_token(latest, request.caller, datetime.now(UTC))
        decided = await decide_call(request, latest, url=url)
        if isinstance(decided, Refused) or decided.decision.stance is Stance.ASK:
            return None
        # Which secret is used has to be on record before it is opened.
        return None if decided.secret else decided

    def _not_admitted(self, request: CallRequest, verdict: Refused | Pending) -> None:
        if isinstance(verdict, Pending):
            count_of("pending").inc()
        else:
            self._refusals.refused(request, verdict.reason)

    async def wait_for_decision(self, pending: Pending, timeout_s: float) -> bool:
        return await wait_for_answer(
            self._log, pending.agent_id, pending.approval_id, timeout_s
        )

    async def refused(self, request: CallRequest, reason: RefusalReason) -> None:
        self._refusals.refused(request, reason)

    async def refused_unlisted(
        self,
        caller: Caller,
        connector_id: UUID | None,
        name: object,
        *,
        session_id: str | None = None,
        trace_id: str | None = None,
    ) -> None:
        await self._refusals.refused_unlisted(
            caller, connector_id, name, session_id, trace_id
        )

    async def finished(
        self,
        call_id: UUID,
        *,
        outcome: Outcome,
        duration_ms: int,
        upstream_ms: int | None,
        request_bytes: int,
        answer_bytes: int,
    ) -> None:
        under_way = self._under_way.pop(call_id.int, None)
        if under_way is None:
            return
        agent_id, mode = under_way
        how: FinishedCall = {
            "call_id": str(call_id),
            "outcome": outcome.value,
            "duration_ms": duration_ms,
            "upstream_ms": upstream_ms,
            "request_bytes": request_bytes,
            "answer_bytes": answer_bytes,
        }
        if mode is RecordMode.STRICT:
            self.recorder.ended(how)
        else:
            self.recorder.batched_ended(agent_id, how)

    async def upstream(self, connector_id: UUID) -> Upstream | None:
        connector = await self._work().find(Connector, connector_id)
        if connector is None or connector.is_retired:
            return None
        return upstream_of(connector)

    async def upstream_to_list(self, connector_id: UUID) -> Upstream | None:
        found, _ = await execute(
            self._log,
            partial(start_listing, StartListing(connector_id=connector_id)),
            metadata=SYSTEM,
            at=datetime.now(UTC),
        )
        if found is None:
            return None
        connector, secret = found
        return replace(
            upstream_of(connector),
            credential=secret.credential(self._vault) if secret else None,
        )

    async def connectors_to_observe(self) -> Sequence[UUID]:
        return await self._to_observe()

    async def observed(
        self, upstream: Upstream, definitions: Sequence[ToolDefinition]
    ) -> ObservedTools | None:
        command = ObserveDefinitions(
            connector_id=upstream.connector_id,
            url=upstream.url,
            definitions=definitions,
            bounds=self._bounds,
        )
        observed, _ = await execute(
            self._log,
            partial(observe_definitions, command),
            metadata=SYSTEM,
            at=datetime.now(UTC),
        )
        return observed

    async def running(self, _app: web.Application) -> AsyncIterator[None]:
        """Record and expire in the background while the application runs."""
        async with recording_calls(self.recorder), expiring_approvals(self.expiry):
            yield

    def _work(self) -> UnitOfWork:
        return UnitOfWork(self._log, metadata=SYSTEM, at=datetime.now(UTC))


def _batched(request: CallRequest, decided: DecidedCall) -> BatchedCall:
    user_id = request.caller.user_id
    return {
        "call_id": str(decided.call_id),
        "user_id": id_text(user_id) if user_id else None,
        "connector_id": id_text(request.connector_id),
        "tool": request.tool,
        "definition": decided.definition["digest"],
        "rule": decided.decision.rule,
        "session_id": request.session_id,
        "trace_id": request.trace_id,
    }
