"""The base class of all aggregates."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Self

from eventsourcing.domain import Aggregate, CanMutateAggregate
from eventsourcing.utils import get_topic

from service.events import Named


class LoggedAggregate(Aggregate):
    """An aggregate of the event log.

    State is made of JSON's own types, and of datetimes. A method that applies an
    event assigns new values and never changes a list or dict in place: a
    decision works on a shallow copy of a cached aggregate.
    """

    # Increment when the state's meaning changes; snapshots of another version are
    # ignored.
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

        def subject(self, named: Named) -> str:
            """Return the aggregate's id, with its name where that is known."""
            return named(str(self.originator_id))

    class Created(Event, Aggregate.Created):
        """The first event; the library requires this name."""

    def working_copy(self) -> Self:
        """Return a shallow copy to decide on, without pending events."""
        # Not copy.copy(): for the three aggregates that a replacement of tool rules
        # loads, it takes 37,000 instructions more, 3.5 % of the whole request.
        twin = object.__new__(type(self))
        twin.__dict__ = {**self.__dict__, "_pending_events": []}
        return twin

    def take_events(self, *, at: datetime) -> list[CanMutateAggregate[Any]]:
        """Return and clear the pending events, with the time of their command."""
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
