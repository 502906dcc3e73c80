"""Model calls on record: admitted, repeated and finished, each by events of its own."""

from typing import Any
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.model_gateway.calls.recorded import AnswerDigests, FinishedModelCall
from service.secrets.sent import UsedSecret


class ModelCall(LoggedAggregate):
    """One call of a model by an agent."""

    class Created(LoggedAggregate.Created):
        """A call was admitted, and is sent only after this event, at once.

        There is a connection to its provider, and nothing but the call is left to send.

        ``versions`` are those of the aggregates that the decision read; had one moved,
        the log would have refused the event. ``asked_for`` is the name that the client
        sent, null for one that no model could have; ``route`` is the pattern that
        decided, ``tier`` the tier that it names. ``model`` is what the connection is
        asked for. ``chosen_by`` says why this target is the first: ``response`` (it
        made the one that the call continues), ``session`` (that stays with it),
        ``weight``, or ``window`` (the prompt fits nowhere, and here the most of it).
        ``counts_only``: the call counts tokens and writes nothing. ``secret`` is whose
        secret is sent along.

        Emitted by the operations below ``/llm/agents/{agent_id}``.
        """

        TOPIC = "model_call.admitted"
        agent_id: Published[Id]
        token_id: str
        user_id: Published[Id | None]
        dialect: Published[str]
        counts_only: Published[bool]
        asked_for: Published[str | None]
        route: Published[str]
        tier: Published[str | None]
        preset_id: Published[Id]
        connection_id: Published[Id]
        model: Published[str]
        chosen_by: Published[str]
        session_id: Published[str | None]
        trace_id: Published[str | None]
        versions: Published[dict[str, int]]
        secret: UsedSecret | None

        def sentence(self, named: Named) -> str:
            return (
                f"called the model {self.model!r} of {named(self.connection_id)} as "
                f"agent {named(self.agent_id)}, by the preset {named(self.preset_id)}"
            )

    class Repeated(LoggedAggregate.Event):
        """A call is sent once more: to another target, or by another connection.

        ``attempt`` counts from 1, which was the admission. Its decision was made anew.

        Emitted by the operations below ``/llm/agents/{agent_id}``.
        """

        TOPIC = "model_call.repeated"
        attempt: Published[int]
        preset_id: Published[Id]
        connection_id: Published[Id]
        model: Published[str]
        versions: Published[dict[str, int]]
        secret: UsedSecret | None

        def sentence(self, named: Named) -> str:
            return (
                f"sent the call {self.subject(named)} once more: to the model "
                f"{self.model!r} of {named(self.connection_id)}"
            )

        def apply(self, aggregate: "ModelCall") -> None:
            aggregate.attempts = self.attempt

    class Finished(LoggedAggregate.Event):
        """An admitted call has ended.

        Emitted by the operations below ``/llm/agents/{agent_id}``, shortly after.
        """

        TOPIC = "model_call.finished"
        how: Published[FinishedModelCall]
        digests: AnswerDigests | None

        def sentence(self, named: Named) -> str:
            usage = self.how["usage"]
            cost = "cost unknown" if usage else "no cost"
            if usage and usage["cost"] is not None:
                cost = f"{usage['cost']} {usage['currency']}"
            return (
                f"finished the model call {self.subject(named)}: "
                f"{self.how['outcome']}, {self.how['duration_ms']} ms, {cost}"
            )

        def apply(self, aggregate: "ModelCall") -> None:
            aggregate.outcome = self.how["outcome"]

    TOPIC = "model_call"

    @event(Created)
    def __init__(
        self,
        agent_id: str,
        token_id: str,  # for readers of the event, as most of these
        user_id: str | None,
        dialect: str,
        counts_only: bool,  # noqa: FBT001
        asked_for: str | None,
        route: str,
        tier: str | None,
        preset_id: str,
        connection_id: str,
        model: str,
        chosen_by: str,
        session_id: str | None,
        trace_id: str | None,
        versions: dict[str, int],
        secret: UsedSecret | None,
        id: UUID | None = None,  # noqa: A002
    ) -> None:
        self.agent_id = agent_id
        self.attempts = 1
        self.outcome: str | None = None

    def repeat(self, **target: Any) -> None:
        """Record that the call is sent again; ``target`` has the event's fields."""
        self.trigger_event(self.Repeated, attempt=self.attempts + 1, **target)

    def finish(self, how: FinishedModelCall, digests: AnswerDigests | None) -> bool:
        """Record how the call ended; return whether that wasn't known."""
        if self.outcome is not None:
            return False
        self.trigger_event(self.Finished, how=how, digests=digests)
        return True
