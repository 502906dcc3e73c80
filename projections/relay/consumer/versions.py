"""Whether every aggregate's events come one after the other."""

from collections import OrderedDict
from typing import Final

from projections.relay.consumer.event import Event

AGGREGATES_REMEMBERED: Final = 100_000


class MissingEventError(Exception):
    """An event of an aggregate was left out, doubled or moved: the topic is broken."""


class Versions:
    """The last versions seen, of the aggregates that were heard of most recently.

    ``whole``: reading began with the topic's first event, so that an aggregate that
    was never heard of begins with its first version.
    """

    def __init__(self, *, whole: bool, remembered: int = AGGREGATES_REMEMBERED) -> None:
        self._whole = whole
        self._remembered = remembered
        self._last: OrderedDict[str, int] = OrderedDict()

    def follow(self, event: Event) -> None:
        """Take the next event.

        :raises MissingEventError: it is not the aggregate's next one
        """
        last = self._last.pop(event.aggregate_id, 0 if self._whole else None)
        if last is not None and event.aggregate_version != last + 1:
            raise MissingEventError(
                f"version {event.aggregate_version} of {event.aggregate_id} at position"
                f" {event.position} follows version {last}"
            )
        self._last[event.aggregate_id] = event.aggregate_version
        if len(self._last) > self._remembered:
            self._last.popitem(last=False)
            self._whole = False
