"""That somebody has read the history is part of it."""

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate


class AuditReading(LoggedAggregate):
    """One request that read history: who, when and from where stand beside it."""

    class Created(LoggedAggregate.Created):
        """``asked`` holds the request's parameters as text, as they were given."""

        TOPIC = "audit.read"
        operation: str
        asked: dict[str, str]

    TOPIC = "audit"

    @event(Created)
    def __init__(self, operation: str, asked: dict[str, str]) -> None:
        self.operation = operation
        self.asked = asked
