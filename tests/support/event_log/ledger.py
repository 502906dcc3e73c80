"""An aggregate of the tests: entries that can be counted."""

from typing import Any
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.identifiers import named_id


class Ledger(LoggedAggregate):
    class Created(LoggedAggregate.Created):
        TOPIC = "test.ledger_opened"
        name: str

    class Entered(LoggedAggregate.Event):
        TOPIC = "test.ledger_entered"
        note: str

    class Annotated(LoggedAggregate.Event):
        TOPIC = "test.ledger_annotated"
        notes: dict[str, Any]

    TOPIC = "test.ledger"

    @staticmethod
    def create_id(name: str) -> UUID:
        return named_id("test-ledger", name)

    @event(Created)
    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: list[str] = []
        self.notes: dict[str, Any] = {}

    @event(Entered)
    def enter(self, note: str) -> None:
        self.entries = [*self.entries, note]

    @event(Annotated)
    def annotate(self, notes: dict[str, Any]) -> None:
        self.notes = notes


class Stranger(LoggedAggregate):
    """An aggregate that no log is told about."""

    class Created(LoggedAggregate.Created):
        TOPIC = "test.stranger_came"

    TOPIC = "test.stranger"

    @event(Created)
    def __init__(self) -> None:
        pass
