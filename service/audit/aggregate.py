"""Reads of history and of session texts, and refusals, are themselves recorded."""

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published, listed


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
            asked = [f"{name} {value}" for name, value in self.asked.items()]
            what = self.operation.removeprefix("get_").replace("_", " ")
            return f"read history: {what}" + (f", {listed(asked)}" if asked else "")

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
