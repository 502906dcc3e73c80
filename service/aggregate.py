"""What every aggregate of this service has in common."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Self

from eventsourcing.domain import Aggregate, CanMutateAggregate
from eventsourcing.utils import get_topic

from service.events import Named

# The time of an event is that of its command, which take_events() sets.
NOT_YET = datetime.min.replace(tzinfo=UTC)


class LoggedAggregate(Aggregate):
    """An aggregate of the event log.

    State is made of JSON's own types, and of datetimes. A method that applies an
    event assigns new values and never changes a list or dict in place: a
    decision works on a shallow copy of a cached aggregate.
    """

    # A change of the state's meaning gets a new class_version; snapshots of
    # another version are passed over.
    class_version = 1

    class Event(Aggregate.Event):
        """A fact about an aggregate.

        Who caused it, and in which request, is metadata that the log keeps beside
        every event. Docstring, annotations and ``sentence`` of each event's class
        declare what the rest of the service says of it: see ``service.events``.
        """

        def sentence(self, named: Named) -> str:
            """Return what the actor did, for audit reviewers; pure."""
            raise NotImplementedError

        def mutate(self, aggregate: Any) -> Any:
            """Do what the library does, with fewer calls where nothing is wrong."""
            if aggregate is None or not aggregate.expects(self):
                return super().mutate(aggregate)
            self.apply(aggregate)
            aggregate.take_over(self)
            return aggregate

    class Created(Event, Aggregate.Created):
        """The first fact; the library wants this name for it."""

    def trigger_event(self, event_class: type[Any], **kwargs: Any) -> None:
        """Add the next event.

        That its topic is known, which the library checks here, is checked when it
        is stored.
        """
        new = event_class(
            originator_id=self._id,
            originator_version=self._version + 1,
            timestamp=NOT_YET,
            **kwargs,
        )
        new.mutate(self)
        self._pending_events.append(new)

    def expects(self, event: Any) -> bool:
        is_next: bool = event.originator_version == self._version + 1
        return is_next and event.originator_id == self._id

    def take_over(self, event: Any) -> None:
        self._version = event.originator_version
        self._modified_on = event.timestamp

    def working_copy(self) -> Self:
        """Return an aggregate that can decide without touching this one."""
        # The loop over attributes that copy.copy() would take costs ten times more.
        twin = object.__new__(type(self))
        twin.__dict__ = {**self.__dict__, "_pending_events": []}
        return twin

    def take_events(self, *, at: datetime) -> list[CanMutateAggregate[Any]]:
        """Hand over the pending events, stamped with the time of their command."""
        events, self._pending_events = self._pending_events, []
        for event in events:
            vars(event)["timestamp"] = at
        if events:
            self._modified_on = at
            if events[0].originator_version == self.INITIAL_VERSION:
                self._created_on = at
        return events


def event_types(aggregate: type[LoggedAggregate]) -> Iterator[tuple[str, type[Any]]]:
    """Yield (topic, class) of every event that an aggregate declares."""
    for name in vars(aggregate):
        member = getattr(aggregate, name)
        if (
            isinstance(member, type)
            and issubclass(member, Aggregate.Event)
            and getattr(member, "TOPIC", None)
        ):
            yield get_topic(member), member
