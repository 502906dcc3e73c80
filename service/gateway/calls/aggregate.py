"""Tool calls on record: admitted, finished, refused, or many at once.

No event has arguments, results, credentials or an upstream's words. Of the arguments
there is a digest, keyed so that short ones can't be guessed.
"""

from typing import Any
from uuid import UUID

from eventsourcing.domain import event
from typing_extensions import TypedDict

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.secrets.sent import UsedSecret


class BatchedCall(TypedDict):
    """A call that was admitted in the mode ``batched``."""

    call_id: Id
    user_id: Id | None
    connector_id: Id
    tool: str
    definition: str
    rule: str
    session_id: str | None
    trace_id: str | None


class FinishedCall(TypedDict):
    """How a call ended; sizes are in bytes."""

    call_id: Id
    outcome: str
    duration_ms: int
    upstream_ms: int | None
    request_bytes: int
    answer_bytes: int


class ToolCall(LoggedAggregate):
    """One call of a tool by an agent."""

    class Created(LoggedAggregate.Created):
        """A call was admitted, and is forwarded only after this event, at once.

        There is a connection to its upstream, and nothing but the message is left to
        send.

        ``versions`` are those of the aggregates that the decision read; had one moved,
        the log would have refused the event. ``stance`` and ``rule`` are what decided,
        ``definition`` is the digest of the tool's definition, ``approval_id`` the
        approval that was used up by it. ``secret`` is whose secret is sent along.

        Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``.
        """

        TOPIC = "tool_call.admitted"
        agent_id: Published[Id]
        token_id: str
        user_id: Published[Id | None]
        connector_id: Published[Id]
        tool: Published[str]
        definition: Published[str]
        stance: Published[str]
        rule: Published[str]
        approval_id: Published[Id | None]
        session_id: Published[str | None]
        trace_id: Published[str | None]
        versions: Published[dict[str, int]]
        arguments_digest: str
        secret: UsedSecret | None

        def sentence(self, named: Named) -> str:
            why = "approved by a person" if self.approval_id else f"by {self.rule!r}"
            return (
                f"called the tool {self.tool!r} of connector "
                f"{named(self.connector_id)} as agent {named(self.agent_id)}, {why}"
            )

    class Finished(LoggedAggregate.Event):
        """An admitted call has ended.

        ``outcome`` is ``ok``, ``tool_error``, ``upstream_error``, ``timeout``,
        ``cancelled``, ``too_large`` or ``not_sent``. ``upstream_ms`` is the upstream's
        part of ``duration_ms``.

        Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``, shortly after.
        """

        TOPIC = "tool_call.finished"
        outcome: Published[str]
        duration_ms: Published[int]
        upstream_ms: Published[int | None]
        request_bytes: Published[int]
        answer_bytes: Published[int]

        def sentence(self, named: Named) -> str:
            return (
                f"finished the call {self.subject(named)}: {self.outcome}, "
                f"{self.duration_ms} ms"
            )

        def apply(self, aggregate: "ToolCall") -> None:
            aggregate.outcome = self.outcome

    class Continued(LoggedAggregate.Event):
        """Another call follows by the same approval.

        ``next_call_id`` brings the upstream input that it asked for, or repeats a call
        that it hasn't taken, and needs no approval of its own.

        Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``.
        """

        TOPIC = "tool_call.continued"
        next_call_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return f"continued the approved call {self.subject(named)}"

        def apply(self, aggregate: "ToolCall") -> None:
            aggregate.is_continued = True

    TOPIC = "tool_call"

    @event(Created)
    def __init__(
        self,
        agent_id: str,
        token_id: str,
        user_id: str | None,  # for readers of the event, as most of these
        connector_id: str,
        tool: str,
        definition: str,
        stance: str,
        rule: str,
        approval_id: str | None,
        session_id: str | None,
        trace_id: str | None,
        versions: dict[str, int],
        arguments_digest: str,
        secret: UsedSecret | None,
        id: UUID | None = None,  # noqa: A002
    ) -> None:
        self.agent_id = agent_id
        self.definition = definition
        self.approval_id = approval_id
        self.arguments_digest = arguments_digest
        self.is_continued = False
        self.outcome: str | None = None

    def is_followed_by(self, *, arguments_digest: str, definition: str) -> bool:
        """Whether a call may be the next round of this one, by the same approval.

        The digest is of agent, token, connector, tool and arguments together.
        """
        return (
            self.approval_id is not None
            and not self.is_continued
            and self.arguments_digest == arguments_digest
            and self.definition == definition
        )

    def continue_in(self, next_call_id: UUID) -> None:
        """Record that the next round of this call has begun, as another call."""
        self.trigger_event(self.Continued, next_call_id=str(next_call_id))

    def finish(self, how: FinishedCall) -> bool:
        """Record how the call ended; return whether that wasn't known."""
        if self.outcome is not None:
            return False
        figures = {name: value for name, value in how.items() if name != "call_id"}
        self.trigger_event(self.Finished, **figures)
        return True


class ToolCallBatch(LoggedAggregate):
    """Calls of one agent, recorded together after they were decided."""

    class Created(LoggedAggregate.Created):
        """Calls of an agent were admitted, or have ended, in the mode ``batched``.

        A call is in ``admitted`` of one event and in ``finished`` of the same or a
        later one. ``token_ids`` are those of the admitted calls.

        Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``, within 100 ms.
        """

        TOPIC = "tool_call.batched"
        agent_id: Published[Id]
        admitted: Published[list[BatchedCall]]
        finished: Published[list[FinishedCall]]
        token_ids: list[str]

        def sentence(self, named: Named) -> str:
            return (
                f"called {len(self.admitted)} tools as agent {named(self.agent_id)}; "
                f"{len(self.finished)} calls have ended"
            )

    TOPIC = "tool_call_batch"

    @event(Created)
    def __init__(
        self,
        agent_id: str,
        admitted: list[BatchedCall],  # for readers of the event
        finished: list[FinishedCall],
        token_ids: list[str],
        id: UUID | None = None,  # noqa: A002
    ) -> None:
        self.agent_id = agent_id


class ToolCallRefusal(LoggedAggregate):
    """Refused calls of one agent at one connector for one reason."""

    class Created(LoggedAggregate.Created):
        """Calls were refused: ``times`` since the last event about such calls.

        ``tool`` is null if the connector, or the agent's list, has no such tool, and
        where the agent doesn't hold the connector. ``asked_for`` is the name that the
        agent gave where ``tool`` is null: as it may be anything, it is null if it has
        other characters than names of tools have, and in a flood of other names.
        ``reason`` is ``unknown_tool``,
        ``connector_not_granted``, ``denied``, ``definition_changed``,
        ``approval_refused``, ``approval_expired``, ``approval_withdrawn``,
        ``too_many_approvals``, ``credential_missing``, ``too_many_calls``,
        ``circuit_open``, ``not_connected`` (to its upstream, or no agreement with it on
        the protocol) or ``cancelled`` (by its client, before it could be sent).
        ``session_id`` and ``trace_id`` are null where the call names none, and in a
        flood of calls that name too many.

        Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``, at most once a second
        for an agent, connector, tool, name asked for, reason and turn of a session.
        """

        TOPIC = "tool_call.refused"
        class_version = 3  # 3: with ``asked_for``
        agent_id: Published[Id]
        token_id: str
        user_id: Published[Id | None]
        connector_id: Published[Id | None]
        tool: Published[str | None]
        asked_for: Published[str | None]
        reason: Published[str]
        times: Published[int]
        session_id: Published[str | None]
        trace_id: Published[str | None]

        @staticmethod
        def upcast_v2_v3(state: dict[str, Any]) -> None:
            state["asked_for"] = None

        def sentence(self, named: Named) -> str:
            tool = repr(self.tool) if self.tool else "an unknown tool"
            if self.asked_for:
                tool += f", asked for as {self.asked_for!r},"
            if self.connector_id:
                tool += f" of connector {named(self.connector_id)}"
            times = f", {self.times} times" if self.times > 1 else ""
            return (
                f"was refused {tool} as agent {named(self.agent_id)}: "
                f"{self.reason}{times}"
            )

    TOPIC = "tool_call_refusal"

    @event(Created)
    def __init__(
        self,
        agent_id: str,
        token_id: str,  # for readers of the event, as what follows
        user_id: str | None,
        connector_id: str | None,
        tool: str | None,
        asked_for: str | None,
        reason: str,
        times: int,
        session_id: str | None,
        trace_id: str | None,
        id: UUID | None = None,  # noqa: A002
    ) -> None:
        self.agent_id = agent_id
