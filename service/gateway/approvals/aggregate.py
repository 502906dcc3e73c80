"""Approvals: what persons were asked about one agent's calls, and what they said."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.errors import ConflictError
from service.gateway.approvals import events
from service.gateway.approvals.entries import OPEN, ApprovalEntry, ApprovalState
from service.identifiers import id_text, named_id

PENDING_MAX: Final = 20
EXPIRES_AFTER: Final = timedelta(minutes=15)


class Approvals(LoggedAggregate):
    """The approvals of one agent; created with the first of them.

    An approval is bound to agent, token, connector, tool, definition and arguments: its
    id is a keyed digest of these. It is used once, together with the admission of the
    call. Its arguments are sealed beside the log until it is closed.
    """

    Created = events.Created
    Requested = events.Requested
    Approved = events.Approved
    Refused = events.Refused
    Withdrawn = events.Withdrawn
    Expired = events.Expired
    ExpiryTold = events.ExpiryTold
    Used = events.Used
    ArgumentsRead = events.ArgumentsRead

    TOPIC = "approvals"

    @staticmethod
    def create_id(agent_id: str) -> UUID:
        return named_id("approvals", agent_id)

    @classmethod
    def id_for(cls, agent_id: UUID) -> UUID:
        return cls.create_id(id_text(agent_id))

    @event(Created)
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.entries: dict[str, ApprovalEntry] = {}

    def entry(self, approval_id: UUID) -> ApprovalEntry | None:
        return self.entries.get(str(approval_id))

    def state_of(self, approval_id: UUID, at: datetime) -> ApprovalState | None:
        """Return an entry's state at a time; None if there is no entry.

        What was refused or withdrawn counts until it would have expired.
        """
        entry = self.entry(approval_id)
        if entry is None:
            return None
        state = ApprovalState(entry["state"])
        if state is ApprovalState.EXPIRED:
            return state
        if datetime.fromisoformat(entry["expires_at"]) > at:
            return state
        return ApprovalState.EXPIRED if state in OPEN else None

    def overdue(self, at: datetime) -> list[UUID]:
        """Return the open approvals that have expired without an event saying so."""
        return [
            UUID(each)
            for each, entry in self.entries.items()
            if entry["state"] in OPEN
            and self.state_of(UUID(each), at) is ApprovalState.EXPIRED
        ]

    def is_full(self, at: datetime) -> bool:
        """Whether the agent has as many pending approvals as it may."""
        pending = [
            each
            for each in self.entries
            if self.state_of(UUID(each), at) is ApprovalState.PENDING
        ]
        return len(pending) >= PENDING_MAX

    def request(
        self,
        approval_id: UUID,
        *,
        token_id: UUID,
        user_id: UUID | None,
        connector_id: UUID,
        tool: str,
        definition: str,
        sealed_id: UUID | None,
        sealed_for: UUID,
        at: datetime,
    ) -> datetime:
        """Ask for an approval and return until when."""
        until = at + EXPIRES_AFTER
        self.trigger_event(
            self.Requested,
            agent_id=self.agent_id,
            approval_id=str(approval_id),
            token_id=str(token_id),
            user_id=str(user_id) if user_id else None,
            connector_id=str(connector_id),
            tool=tool,
            definition=definition,
            requested_at=at.isoformat(),
            expires_at=until.isoformat(),
            sealed_id=str(sealed_id) if sealed_id else None,
            sealed_for=str(sealed_for),
        )
        return until

    def approve(
        self, approval_id: UUID, *, by: UUID, reason: str | None, until: datetime
    ) -> None:
        """Let the call be made once, until a time.

        :raises ConflictError: it isn't pending
        """
        entry = self._open_entry(approval_id, ApprovalState.PENDING)
        self.trigger_event(
            self.Approved,
            **self._named(approval_id, entry),
            by=str(by),
            reason=reason,
            expires_at=until.isoformat(),
        )

    def refuse(self, approval_id: UUID, *, by: UUID, reason: str | None) -> None:
        """Refuse the call.

        :raises ConflictError: it isn't pending
        """
        entry = self._open_entry(approval_id, ApprovalState.PENDING)
        self.trigger_event(
            self.Refused,
            **self._named(approval_id, entry),
            by=str(by),
            reason=reason,
            sealed_ids=_sealed(entry),
        )

    def withdraw(self, approval_id: UUID, *, by: UUID, reason: str | None) -> None:
        """Take an approval, or the question, back.

        :raises ConflictError: it is neither pending nor approved
        """
        entry = self._open_entry(approval_id, *OPEN)
        self.trigger_event(
            self.Withdrawn,
            **self._named(approval_id, entry),
            by=str(by),
            reason=reason,
            sealed_ids=_sealed(entry),
        )

    def expire(self, approval_id: UUID) -> None:
        """Record that an open approval has expired."""
        entry = self._open_entry(approval_id, *OPEN)
        self.trigger_event(
            self.Expired,
            **self._named(approval_id, entry),
            sealed_ids=_sealed(entry),
        )

    def tell_expiry(self, approval_id: UUID) -> None:
        """Record that the agent is told of an expiry; it can ask again."""
        entry = self._open_entry(approval_id, ApprovalState.EXPIRED)
        self.trigger_event(self.ExpiryTold, **self._named(approval_id, entry))

    def use(self, approval_id: UUID, *, call_id: UUID) -> None:
        """Use an approval up for one call.

        :raises ConflictError: it isn't approved
        """
        entry = self._open_entry(approval_id, ApprovalState.APPROVED)
        self.trigger_event(
            self.Used,
            **self._named(approval_id, entry),
            call_id=str(call_id),
            sealed_ids=_sealed(entry),
        )

    def read_arguments(self, approval_id: UUID) -> None:
        entry = self._open_entry(approval_id, *OPEN)
        self.trigger_event(self.ArgumentsRead, **self._named(approval_id, entry))

    def _open_entry(self, approval_id: UUID, *states: ApprovalState) -> ApprovalEntry:
        entry = self.entry(approval_id)
        if entry is None or entry["state"] not in states:
            is_now = entry["state"] if entry else "closed"
            raise ConflictError(
                f"this approval is {is_now}", code="approval_not_pending"
            )
        return entry

    def _named(self, approval_id: UUID, entry: ApprovalEntry) -> dict[str, str]:
        return {
            "agent_id": self.agent_id,
            "approval_id": str(approval_id),
            "connector_id": entry["connector_id"],
            "tool": entry["tool"],
        }


def _sealed(entry: ApprovalEntry) -> list[str]:
    return [entry["sealed_id"]] if entry["sealed_id"] else []
