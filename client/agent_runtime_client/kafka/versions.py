"""Checks that every aggregate's events come one after the other."""

from collections import OrderedDict
from typing import Final

from agent_runtime_client.kafka.errors import MissingEventError
from agent_runtime_client.kafka.event import Event

AGGREGATES_REMEMBERED: Final = 100_000


class Versions:
    """The last versions seen, of the aggregates with the latest events.

    ``whole``: reading began with the topic's first event, so that an aggregate without
    an earlier event begins with its first version.
    """

    def __init__(self, *, whole: bool, remembered: int = AGGREGATES_REMEMBERED) -> None:
        self._whole = whole
        self._remembered = remembered
        self._last: OrderedDict[str, int] = OrderedDict()

    def follow(self, event: Event) -> None:
        """Take the next event.

        :raises MissingEventError: it is not the aggregate's next one
        """
        last = self._last.get(event.aggregate_id, 0 if self._whole else None)
        if last is not None and event.aggregate_version != last + 1:
            raise MissingEventError(
                f"version {event.aggregate_version} of {event.aggregate_id} at position"
                f" {event.position} follows version {last}"
            )
        self._last[event.aggregate_id] = event.aggregate_version
        self._last.move_to_end(event.aggregate_id)
        if len(self._last) > self._remembered:
            self._last.popitem(last=False)
            self._whole = False
