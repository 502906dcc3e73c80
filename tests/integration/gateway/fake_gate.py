"""A gate that decides by a dictionary, and keeps what it is told."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from aiohttp import web

from service.agent_tokens.caller import Caller
from service.call_recording.modes import RecordMode
from service.errors import NotFoundError, UnauthenticatedError
from service.gateway.definition import ToolDefinition
from service.gateway.gate import (
    Admission,
    CallRequest,
    ListedTool,
    MovedError,
    ObservedTools,
    Outcome,
    Pending,
    RefusalReason,
    Refused,
    ToolList,
    Upstream,
)

TOKEN = "art_agent_token_of_the_tests"
PENDING = "waiting for approval"


@dataclass
class Ended:
    call_id: UUID
    outcome: Outcome
    duration_ms: int
    upstream_ms: int | None
    request_bytes: int
    answer_bytes: int


@dataclass
class FakeGate:
    """Allows every tool but those in ``denied``; asks for those in ``asked``."""

    agent_id: UUID = field(default_factory=uuid4)
    user_id: UUID | None = None
    listed: list[ListedTool] = field(default_factory=list)
    listed_max: int | None = None
    upstreams: dict[UUID, Upstream] = field(default_factory=dict)
    denied: dict[str, Refused] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    approved: asyncio.Event = field(default_factory=asyncio.Event)
    calls: list[CallRequest] = field(default_factory=list)
    prepared: list[CallRequest] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    ended_one: asyncio.Event = field(default_factory=asyncio.Event)
    refusals: list[RefusalReason] = field(default_factory=list)
    observations: list[tuple[UUID, list[str]]] = field(default_factory=list)
    observed_urls: list[str] = field(default_factory=list)
    _lists: dict[UUID | None, ToolList] = field(default_factory=dict)

    def connect(
        self, url: str, *tools: str | dict[str, object], slug: str = "tools"
    ) -> Upstream:
        """Grant the agent a connector that has these tools."""
        upstream = Upstream(
            connector_id=uuid4(),
            url=url,
            mode=RecordMode.STRICT,
            version=1,
        )
        self.upstreams[upstream.connector_id] = upstream
        for tool in tools:
            self.pin(upstream, tool, slug)
        return upstream

    def pin(
        self, upstream: Upstream, tool: str | dict[str, object], prefix: str = "tools"
    ) -> None:
        document = (
            {"name": tool, "inputSchema": {"type": "object"}}
            if isinstance(tool, str)
            else tool
        )
        definition = ToolDefinition.of(document)
        self.listed.append(
            ListedTool(connector=upstream, prefix=prefix, definition=definition)
        )

    async def caller(self, request: web.Request, agent_id: UUID) -> Caller:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise UnauthenticatedError(
                "a valid bearer token is required",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if agent_id != self.agent_id:
            raise NotFoundError("there is no such agent")
        return Caller(agent_id=agent_id, token_id=self.agent_id, user_id=self.user_id)

    async def tools(self, caller: Caller, connector_id: UUID | None = None) -> ToolList:
        tools = [
            each
            for each in self.listed
            if connector_id in (None, each.connector.connector_id)
            and not self._is_hidden(each.definition.name)
        ]
        listed_max = self.listed_max if connector_id is None else None
        before = self._lists.get(connector_id)
        if before and (before.tools, before.listed_max) == (tools, listed_max):
            return before
        made = self._lists[connector_id] = ToolList(tools, listed_max)
        return made

    def _is_hidden(self, tool: str) -> bool:
        refused = self.denied.get(tool)
        return refused is not None and refused.reason.hides_the_tool

    async def prepare(self, request: CallRequest) -> Upstream | Refused | Pending:
        self.prepared.append(request)
        return self._not_now(request) or self.upstreams[request.connector_id]

    def _not_now(self, request: CallRequest) -> Refused | Pending | None:
        refused = self.denied.get(request.tool)
        if refused is not None:
            return refused
        if request.tool in self.asked and not self.approved.is_set():
            return Pending(
                agent_id=self.agent_id,
                approval_id=self.agent_id,
                until=datetime.now(UTC) + timedelta(minutes=15),
                message=PENDING,
            )
        return None

    async def admit(
        self, request: CallRequest, *, url: str | None = None
    ) -> Admission | Refused | Pending:
        self.calls.append(request)
        not_now = self._not_now(request)
        if not_now is not None:
            return not_now
        if url not in (None, self.upstreams[request.connector_id].url):
            raise MovedError
        (definition,) = [
            each.definition
            for each in self.listed
            if (each.connector.connector_id, each.definition.name)
            == (request.connector_id, request.tool)
        ]
        return Admission(
            call_id=uuid4(),
            upstream=self.upstreams[request.connector_id],
            definition=definition,
        )

    async def wait_for_decision(self, pending: Pending, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                await self.approved.wait()
        except TimeoutError:
            return False
        return True

    async def refused(self, request: CallRequest, reason: RefusalReason) -> None:
        self.refusals.append(reason)

    async def refused_unlisted(
        self,
        caller: Caller,
        connector_id: UUID | None,
        name: object,
        *,
        session_id: str | None = None,
        trace_id: str | None = None,
    ) -> None:
        self.refusals.append(RefusalReason.UNKNOWN_TOOL)

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
        self.ended.append(
            Ended(
                call_id, outcome, duration_ms, upstream_ms, request_bytes, answer_bytes
            )
        )
        self.ended_one.set()

    async def upstream(self, connector_id: UUID) -> Upstream | None:
        return self.upstreams.get(connector_id)

    async def upstream_to_list(self, connector_id: UUID) -> Upstream | None:
        return self.upstreams.get(connector_id)

    async def connectors_to_observe(self) -> Sequence[UUID]:
        return sorted(self.upstreams)

    async def observed(
        self, upstream: Upstream, definitions: Sequence[ToolDefinition]
    ) -> ObservedTools:
        names = [each.name for each in definitions]
        self.observations.append((upstream.connector_id, names))
        self.observed_urls.append(upstream.url)
        return ObservedTools(is_changed=True, tools=len(names))

    def change(self, upstream: Upstream, **changes: object) -> Upstream:
        """Change a connector, as its owner would."""
        changed = replace(upstream, version=upstream.version + 1, **changes)  # type: ignore[arg-type]
        self.upstreams[upstream.connector_id] = changed
        return changed
