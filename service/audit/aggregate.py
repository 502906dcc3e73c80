"""Reads of history are themselves recorded."""

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import Named, Published, listed


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
