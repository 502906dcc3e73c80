"""The interface of the gateway's decisions: callers, lists of tools, calls.

The protocol side speaks MCP with agents and upstreams and decides nothing. This side
decides and records, and speaks no protocol.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from aiohttp import web

from service.agent_tokens.caller import Caller
from service.call_recording.modes import RecordMode
from service.errors import ConflictError
from service.gateway.definition import ToolDefinition
from service.secrets.sent import Credential


class Outcome(StrEnum):
    """How a forwarded call ended."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    UPSTREAM_ERROR = "upstream_error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    TOO_LARGE = "too_large"
    # It was admitted, and then not sent: its connection ended, or no credential.
    NOT_SENT = "not_sent"


class RefusalReason(StrEnum):
    """Why a call was refused.

    Agents are told one and the same of the first group, "unknown tool": which of them
    it is says what exists.
    """

    UNKNOWN_TOOL = "unknown_tool"
    CONNECTOR_NOT_GRANTED = "connector_not_granted"
    DENIED = "denied"
    DEFINITION_CHANGED = "definition_changed"

    APPROVAL_REFUSED = "approval_refused"
    APPROVAL_EXPIRED = "approval_expired"
    APPROVAL_WITHDRAWN = "approval_withdrawn"
    TOO_MANY_APPROVALS = "too_many_approvals"
    CREDENTIAL_MISSING = "credential_missing"
    # The protocol side's own refusals: :meth:`Gate.refused`.
    TOO_MANY_CALLS = "too_many_calls"
    CIRCUIT_OPEN = "circuit_open"
    # No connection, or no agreement on the protocol, in time.
    NOT_CONNECTED = "not_connected"
    # Its client left or cancelled it before it could be sent.
    CANCELLED = "cancelled"

    @property
    def hides_the_tool(self) -> bool:
        return self in _HIDING


_HIDING = frozenset(
    {
        RefusalReason.UNKNOWN_TOOL,
        RefusalReason.CONNECTOR_NOT_GRANTED,
        RefusalReason.DENIED,
        RefusalReason.DEFINITION_CHANGED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Where a connector's calls go.

    ``version`` is the connector's: it changes with URL and credential.
    ``credential`` is null in lists, and where the connector has none. ``revision`` is
    the one to speak, null if that is to be found out. ``name`` is for logs.
    """

    connector_id: UUID
    url: str
    mode: RecordMode
    version: int
    credential: Credential | None = None
    revision: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool that an agent may call, or ask to call.

    Aliases of its connector's tools begin with ``prefix``: 1 to 33 characters of
    ``a-z 0-9 -``, and another one for each connector of the agent.
    """

    connector: Upstream
    prefix: str
    definition: ToolDefinition


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ToolList:
    """The tools that an agent may call; more than ``listed_max`` are to be searched.

    The same object as long as nothing of it changes.
    """

    tools: Sequence[ListedTool] = ()
    listed_max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A call that an agent asks for, by its ``caller``.

    ``tool`` is the upstream's own name. ``arguments`` are canonical JSON
    (:func:`service.gateway.definition.canonical_json`); they are hashed with a key, and
    sealed while a person is asked, never recorded. ``session_id`` and ``trace_id`` name
    the session, and the trace of the turn, that the call belongs to. ``continues`` is
    the call of the round before, or the one that its upstream hasn't taken, if a person
    had approved that.
    """

    caller: Caller
    connector_id: UUID
    tool: str
    arguments: bytes = field(repr=False)
    request_id: str
    traceparent: str | None = None
    session_id: str | None = None
    trace_id: str | None = None
    continues: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The call may be forwarded once; ``finished`` is to be called however it ends.

    ``is_approved``: by a person, this call or the one that it continues.
    """

    call_id: UUID
    upstream: Upstream
    definition: ToolDefinition
    is_approved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTools:
    """What of an upstream's list was taken: ``tools`` of them.

    ``left_out`` are the names of those beyond the bounds, as the upstream has them.
    """

    is_changed: bool
    tools: int
    left_out: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The call must not be forwarded; ``message`` is for the agent."""

    reason: RefusalReason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A person is asked; the same call again, until then, finds the answer."""

    agent_id: UUID
    approval_id: UUID
    until: datetime
    message: str


class MovedError(ConflictError):
    """What a call was prepared with doesn't hold any more: prepare it anew."""

    code = "connector_moved"

    def __init__(self) -> None:
        super().__init__("the connector has changed; call again")


class Gate(Protocol):
    """Decides and records the calls of agents."""

    async def caller(self, request: web.Request, agent_id: UUID) -> Caller:
        """Return who calls, by the agent token in ``Authorization``.

        :raises UnauthenticatedError: no token, or none that is valid for this agent
        :raises NotFoundError: the agent is retired
        :raises TooManyRequestsError: too many refused tokens from this address
        """

    async def tools(self, caller: Caller, connector_id: UUID | None = None) -> ToolList:
        """Return what the caller may call or ask for, of one connector or of all.

        Decided as :meth:`admit` does, on definitions in the log; no upstream is asked.
        In the order of connector id and tool name; the same object until something has
        moved. Of a connector that the agent
        doesn't hold, or that doesn't exist: nothing. The list of one connector is never
        to be searched.
        """

    async def prepare(self, request: CallRequest) -> Upstream | Refused | Pending:
        """Decide on a call that needs a connection first, and admit nothing.

        An approval is only looked at. The credential is for agreeing with the upstream
        on the protocol: that it is used is recorded before it is opened.

        :raises UnauthenticatedError: the token is no longer valid
        :raises UnavailableError: it can't be decided now
        """

    async def admit(
        self, request: CallRequest, *, url: str | None = None
    ) -> Admission | Refused | Pending:
        """Decide on a call, and record the decision before returning.

        To be called when nothing but the message is left to send, by a connection to
        ``url``.

        :raises MovedError: the connector has another URL by now
        :raises UnauthenticatedError: the token is no longer valid
        :raises UnavailableError: it can't be recorded now; nothing may be forwarded
        """

    async def wait_for_decision(self, pending: Pending, timeout_s: float) -> bool:
        """Wait until a person has decided; False after the timeout.

        Then :meth:`admit` is to be called again: it decides anew.
        """

    async def refused(self, request: CallRequest, reason: RefusalReason) -> None:
        """Record that the protocol side refused a call, before asking to admit it."""

    async def refused_unlisted(
        self,
        caller: Caller,
        connector_id: UUID | None,
        name: object,
        *,
        session_id: str | None = None,
        trace_id: str | None = None,
    ) -> None:
        """Record a call of a name that the caller's list doesn't have.

        With tool and reason if the name is that of a tool that is denied or hidden;
        any other name as given, if it has the characters of one. ``connector_id`` None:
        the name is an alias. Session and trace are those of a :class:`CallRequest`.
        """

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
        """Record how an admitted call ended; returns before that is in the log.

        ``duration_ms`` counts from the agent's request, ``upstream_ms`` is the
        upstream's part of it, null if nothing was sent.
        """

    async def upstream(self, connector_id: UUID) -> Upstream | None:
        """Return the upstream of a connector, without its credential.

        None: there is none, or it is retired.
        """

    async def upstream_to_list(self, connector_id: UUID) -> Upstream | None:
        """Return the upstream of a connector, to list its tools once.

        With a secret of its owner, if it has a credential; that it is used is recorded.

        :raises UnavailableError: it can't be recorded now
        """

    async def connectors_to_observe(self) -> Sequence[UUID]:
        """Return the connectors that agents hold, and some that were never observed.

        Of the latter, those that weren't at their present URL: a few at a time.
        """

    async def observed(
        self, upstream: Upstream, definitions: Sequence[ToolDefinition]
    ) -> ObservedTools | None:
        """Record the complete list of an upstream's tools, where it differs.

        Nothing is recorded if the connector has another URL by now: None.
        """


GATE: web.AppKey[Gate] = web.AppKey("gate")
