"""Reads of history and of session texts, refusals and changes of the log epoch."""

from collections.abc import Mapping
from typing import Final, Literal
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, listed

# What each operation reads; its path parameters are named.
_READ: Final = {
    "get_audit_events": "a page of the audit trail",
    "get_audit_event": "entry {position} of the audit trail",
    "get_audit_jsonl": "an export of the audit trail as JSON Lines",
    "get_audit_csv": "an export of the audit trail as CSV",
    "get_audit_stream": "the audit trail as a live stream",
    "get_aggregate": "the recorded state of {aggregate_id}",
    "get_aggregate_difference": "the changes of {aggregate_id}",
    "get_connector_exposure": "who could use the connector {id}",
    "get_decisions_difference": "the changed decisions of the agent {agent_id}",
}
_FILTERS: Final = {
    "actor": "caused by",
    "resource": "about",
    "kind": "of kind",
    "request_id": "of request",
    "from_time": "from",
    "until_time": "until",
    "from_position": "from position",
    "until_position": "up to position",
    "since": "since",
    "until": "until",
    "at": "as of",
    "tools": "for the tools",
}


def read_in_words(operation: str, asked: Mapping[str, str], named: Named) -> str:
    """Say what a request read: what, and then each of its filters."""
    parameters = {name: named(value) for name, value in asked.items()}
    # An operation of another version of the service has no words here.
    what = _READ.get(operation, operation.removeprefix("get_").replace("_", " "))
    in_path = {name for name in parameters if f"{{{name}}}" in what}
    for name in in_path:
        what = what.replace(f"{{{name}}}", parameters[name])
    filters = [
        f"{_FILTERS.get(name, name)} {value}"
        for name, value in parameters.items()
        if name not in in_path
    ]
    return f"read {what}" + (f": {listed(filters)}" if filters else "")


class AuditReading(LoggedAggregate):
    """One request that read history: who, when and from where stand beside it."""

    class Created(LoggedAggregate.Created):
        """A user reads history, by one request, export or stream.

        ``asked`` holds the request's parameters as text, as they were given.

        Emitted by every ``GET`` under ``/api/audit`` except checkpoints and proofs,
        before it answers.
        """

        TOPIC = "audit.read"
        operation: Published[str]
        asked: dict[str, str]

        def sentence(self, named: Named) -> str:
            return read_in_words(self.operation, self.asked, named)

    TOPIC = "audit"

    @event(Created)
    def __init__(self, operation: str, asked: dict[str, str]) -> None:
        self.operation = operation
        self.asked = asked


class TextReading(LoggedAggregate):
    """One request that read the texts of other users' sessions."""

    class Created(LoggedAggregate.Created):
        """A user reads texts of sessions of other users.

        ``sessions`` is the id of each session's aggregate to the id of its user.
        ``operation`` is ``get_session`` for all texts of a session, or
        ``get_session_list`` for the first input and the last output of each.
        Reading the same again with the same token within five minutes is no further
        event.

        Emitted by ``GET /api/observability/session/{session_id}`` and ``GET
        /api/observability/session/list``, before they answer.
        """

        TOPIC = "session_texts.read"
        operation: Published[str]
        sessions: Published[dict[str, Id]]

        def sentence(self, named: Named) -> str:
            of_users = [
                f"{named(session)} of {named(user)}"
                for session, user in self.sessions.items()
            ]
            which = (
                "the texts"
                if self.operation == "get_session"
                else "an excerpt of texts"
            )
            return f"read {which} of session {listed(of_users, '; ')}"

    TOPIC = "session_texts"

    @event(Created)
    def __init__(self, operation: str, sessions: dict[str, str]) -> None:
        self.operation = operation
        self.sessions = sessions


class Refusal(LoggedAggregate):
    """Requests of one user that were refused what they asked to change."""

    class Created(LoggedAggregate.Created):
        """A user was refused a change, because they may not make it.

        Of one user's refusals at one operation, the first is an event at once, and
        those of the following minute are one event together: ``times`` is their
        number, ``path`` that of the last. The event's author is the refused user.

        Emitted by every ``POST``, ``PUT`` and ``DELETE`` that answers 403.
        """

        TOPIC = "refusal.recorded"
        method: Published[str]
        path: Published[str]
        code: Published[str]
        times: Published[int]

        def sentence(self, named: Named) -> str:
            times = "once" if self.times == 1 else f"{self.times} times"
            return f"was refused {self.method} {self.path}, {times} ({self.code})"

    TOPIC = "refusal"

    @event(Created)
    def __init__(self, method: str, path: str, code: str, times: int) -> None:
        self.method = method
        self.path = path
        self.code = code
        self.times = times


EpochChangeReason = Literal["restore", "fail_over"]


class EpochChange(LoggedAggregate):
    """The beginning of a log epoch, whose id is the aggregate's."""

    class Created(LoggedAggregate.Created):
        """The log has a new epoch, because its end may have been lost.

        ``position`` is the last one that both epochs share; later positions mean
        other events in the new epoch. ``reason`` is ``fail_over`` if the service
        found a server that lacks events, or may lack some, after a promotion, a
        point-in-time recovery or a restore into another server; otherwise
        ``restore``. ``signed_size`` and ``signed_root`` (base64) are those of the
        newest checkpoint of the old epoch that the service has, null for none.

        Emitted once for each new epoch, a few seconds after it began.
        """

        TOPIC = "log.epoch_changed"
        old_epoch: Published[Id]
        new_epoch: Published[Id]
        position: Published[int]
        reason: Published[EpochChangeReason]
        signed_size: Published[int | None]
        signed_root: Published[str | None]

        def sentence(self, named: Named) -> str:  # names nothing
            why = "a fail-over" if self.reason == "fail_over" else "a restore"
            signed = (
                f"signed up to {self.signed_size}"
                if self.signed_size is not None
                else "without a checkpoint"
            )
            return (
                f"changed the epoch of the log after {why}, at position"
                f" {self.position}: {self.new_epoch}, was {self.old_epoch}, {signed}"
            )

    TOPIC = "log"

    @event(Created)
    def __init__(
        self,
        old_epoch: str,
        new_epoch: str,
        position: int,
        reason: EpochChangeReason,
        signed_size: int | None,
        signed_root: str | None,
    ) -> None:
        self.old_epoch = old_epoch
        self.new_epoch = new_epoch
        self.position = position
        self.reason = reason
        self.signed_size = signed_size
        self.signed_root = signed_root

    @staticmethod
    def create_id(new_epoch: str) -> UUID:
        return UUID(new_epoch)
