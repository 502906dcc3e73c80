"""The events of the approvals of one agent."""

from typing import Any

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, Time
from service.gateway.approvals.entries import ApprovalState, kept_entries


class Created(LoggedAggregate.Created):
    """An agent needs its first approval; the next event says for what.

    Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``.
    """

    TOPIC = "approvals.created"
    agent_id: Published[Id]

    def sentence(self, named: Named) -> str:
        return f"began the approvals of agent {named(self.agent_id)}, with none"


class _ApprovalEvent(LoggedAggregate.Event):
    agent_id: Published[Id]
    approval_id: Published[Id]
    connector_id: Published[Id]
    tool: Published[str]

    def call(self, named: Named) -> str:
        return (
            f"the tool {self.tool!r} of connector {named(self.connector_id)} by agent "
            f"{named(self.agent_id)}"
        )


class Requested(_ApprovalEvent):
    """A person is asked whether an agent may call a tool once, until ``expires_at``.

    The id is a keyed digest of agent, token, connector, tool, definition and arguments;
    it is the same each time that the same call is asked for. ``sealed_id`` names the
    sealed arguments, which are destroyed when the approval is closed.

    Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``.
    """

    TOPIC = "approvals.requested"
    token_id: str
    user_id: Published[Id | None]
    definition: Published[str]
    requested_at: Published[Time]
    expires_at: Published[Time]
    sealed_id: str | None
    sealed_for: str

    def sentence(self, named: Named) -> str:
        return f"asked to approve a call of {self.call(named)}"

    def apply(self, aggregate: Any) -> None:
        entries = kept_entries(aggregate.entries, self.requested_at)
        entries.pop(self.approval_id, None)
        entries[self.approval_id] = {
            "token_id": self.token_id,
            "user_id": self.user_id,
            "connector_id": self.connector_id,
            "tool": self.tool,
            "definition": self.definition,
            "state": ApprovalState.PENDING.value,
            "requested_at": self.requested_at,
            "expires_at": self.expires_at,
            "version": self.originator_version,
            "sealed_id": self.sealed_id,
            "sealed_for": self.sealed_for,
            "decided_by": None,
            "reason": None,
        }
        aggregate.entries = entries


class _Decided(_ApprovalEvent):
    by: Published[Id]
    reason: str | None

    def change(self, aggregate: Any, **changes: Any) -> None:
        entry = aggregate.entries[self.approval_id]
        aggregate.entries = {
            **aggregate.entries,
            self.approval_id: {
                **entry,
                "version": self.originator_version,
                "decided_by": self.by,
                "reason": self.reason,
                **changes,
            },
        }


class Approved(_Decided):
    """A person lets the agent make the call once, until ``expires_at``.

    Emitted by ``POST /api/mcp/agents/{agent_id}/approvals/{approval_id}/approve``.
    """

    TOPIC = "approvals.approved"
    expires_at: Published[Time]

    def sentence(self, named: Named) -> str:
        return f"approved one call of {self.call(named)}, until {self.expires_at}"

    def apply(self, aggregate: Any) -> None:
        self.change(aggregate, state="approved", expires_at=self.expires_at)


class _Closed(LoggedAggregate.Event):
    sealed_ids: list[str]


class Refused(_Decided, _Closed):
    """A person refused the call.

    ``sealed_ids`` name the arguments, which the follower ``destruction`` deletes.

    Emitted by ``POST /api/mcp/agents/{agent_id}/approvals/{approval_id}/refuse``.
    """

    TOPIC = "approvals.refused"

    def sentence(self, named: Named) -> str:
        return f"refused a call of {self.call(named)}"

    def apply(self, aggregate: Any) -> None:
        self.change(aggregate, state="refused", sealed_id=None)


class Withdrawn(_Decided, _Closed):
    """A person took an approval, or the question, back.

    ``sealed_ids`` name the arguments, which the follower ``destruction`` deletes.

    Emitted by ``POST /api/mcp/agents/{agent_id}/approvals/{approval_id}/withdraw``.
    """

    TOPIC = "approvals.withdrawn"

    def sentence(self, named: Named) -> str:
        return f"withdrew the approval of a call of {self.call(named)}"

    def apply(self, aggregate: Any) -> None:
        self.change(aggregate, state="withdrawn", sealed_id=None)


class Expired(_ApprovalEvent, _Closed):
    """An approval was neither decided on nor used in time.

    ``sealed_ids`` name the arguments, which the follower ``destruction`` deletes.

    Emitted after its time, by the gateway or the next call.
    """

    TOPIC = "approvals.expired"

    def sentence(self, named: Named) -> str:
        return f"let the approval of a call of {self.call(named)} expire"

    def apply(self, aggregate: Any) -> None:
        entry = aggregate.entries[self.approval_id]
        aggregate.entries = {
            **aggregate.entries,
            self.approval_id: {
                **entry,
                "state": ApprovalState.EXPIRED.value,
                "version": self.originator_version,
                "sealed_id": None,
            },
        }


class _Removed(_ApprovalEvent):
    def apply(self, aggregate: Any) -> None:
        aggregate.entries = {
            each: entry
            for each, entry in aggregate.entries.items()
            if each != self.approval_id
        }


class ExpiryTold(_Removed):
    """The agent called again and was told of the expiry; its next call asks anew.

    Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``.
    """

    TOPIC = "approvals.expiry_told"

    def sentence(self, named: Named) -> str:
        return f"was told that the approval of {self.call(named)} has expired"


class Used(_Removed, _Closed):
    """An approval was used up by a call, which the same command has admitted.

    ``sealed_ids`` name the arguments, which the follower ``destruction`` deletes.

    Emitted by ``tools/call`` at ``/mcp/agents/{agent_id}``.
    """

    TOPIC = "approvals.used"
    call_id: Published[Id]

    def sentence(self, named: Named) -> str:
        return f"used the approval of {self.call(named)}"


class ArgumentsRead(_ApprovalEvent):
    """The arguments of a call are about to be shown to an approver.

    Emitted by ``GET /api/mcp/agents/{agent_id}/approvals/{approval_id}``.
    """

    TOPIC = "approvals.arguments_read"

    def sentence(self, named: Named) -> str:
        return f"read the arguments of a call of {self.call(named)}"
