"""Model calls that are recorded together: batches of them, and refusals."""

from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Id, Named, Published
from service.model_gateway.calls.recorded import (
    AnswerDigests,
    BatchedModelCall,
    FinishedModelCall,
)
from service.secrets.sent import UsedSecret


class ModelCallBatch(LoggedAggregate):
    """Model calls of one agent, recorded together after they were decided."""

    class Created(LoggedAggregate.Created):
        """Calls of an agent were admitted, or have ended, in the mode ``batched``.

        A call is in ``admitted`` of one event, once for each attempt, and in
        ``finished`` of the same or a later one. ``token_ids`` and ``secrets`` belong to
        ``admitted``, ``digests`` to ``finished``.

        Emitted by the operations below ``/llm/agents/{agent_id}``, within 100 ms.
        """

        TOPIC = "model_call.batched"
        agent_id: Published[Id]
        admitted: Published[list[BatchedModelCall]]
        finished: Published[list[FinishedModelCall]]
        token_ids: list[str]
        secrets: list[UsedSecret | None]
        digests: list[AnswerDigests | None]

        def sentence(self, named: Named) -> str:
            return (
                f"called {len(self.admitted)} models as agent {named(self.agent_id)}; "
                f"{len(self.finished)} calls have ended"
            )

    TOPIC = "model_call_batch"

    @event(Created)
    def __init__(
        self,
        agent_id: str,
        admitted: list[BatchedModelCall],  # for readers of the event
        finished: list[FinishedModelCall],
        token_ids: list[str],
        secrets: list[UsedSecret | None],
        digests: list[AnswerDigests | None],
        id: UUID | None = None,  # noqa: A002
    ) -> None:
        self.agent_id = agent_id


class ModelCallRefusal(LoggedAggregate):
    """Refused model calls of one agent for one reason."""

    class Created(LoggedAggregate.Created):
        """Calls were refused: ``times`` since the last event about such calls.

        Nothing was sent to a provider. ``asked_for`` is the name that the client sent,
        null for one that no model could have, and in a flood of other names. ``reason``
        is the code of the error that the agent got, such as ``model_not_found``,
        ``wrong_dialect``, ``malformed_request``, ``too_many_calls`` or ``no_answer``
        (no provider could be connected to); or ``cancelled`` (by its client).
        ``session_id`` and ``trace_id`` are null where the call names none, and in a
        flood of calls that name too many.

        Emitted by the operations below ``/llm/agents/{agent_id}``, at most once a
        second for an agent, token, dialect, name, reason and turn of a session.
        """

        TOPIC = "model_call.refused"
        agent_id: Published[Id]
        token_id: str
        user_id: Published[Id | None]
        dialect: Published[str]
        asked_for: Published[str | None]
        reason: Published[str]
        times: Published[int]
        session_id: Published[str | None]
        trace_id: Published[str | None]

        def sentence(self, named: Named) -> str:
            model = repr(self.asked_for) if self.asked_for else "of another name"
            times = f", {self.times} times" if self.times > 1 else ""
            return (
                f"was refused the model {model} as agent {named(self.agent_id)}: "
                f"{self.reason}{times}"
            )

    TOPIC = "model_call_refusal"

    @event(Created)
    def __init__(
        self,
        agent_id: str,
        token_id: str,  # for readers of the event, as what follows
        user_id: str | None,
        dialect: str,
        asked_for: str | None,
        reason: str,
        times: int,
        session_id: str | None,
        trace_id: str | None,
        id: UUID | None = None,  # noqa: A002
    ) -> None:
        self.agent_id = agent_id
