"""A cache of committed aggregates, bounded in bytes."""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.footprint import footprint

# What an entry takes beside its aggregate's state.
ENTRY_BYTES: Final = 500
# Until an aggregate is measured again, each byte of its new events counts as so many.
BYTES_OF_EVENT_BYTE: Final = 4


class AggregateCache:
    """An LRU cache; entries can be stale when another process has written.

    Each decision on an entry is checked against the log before it counts. All entries
    together take about ``bytes_max`` at most; one that would take more than half of
    that isn't kept.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        # By the id's number: hashing a UUID takes a call of a Python function.
        self._aggregates: OrderedDict[int, LoggedAggregate] = OrderedDict()
        self._sizes: dict[int, _Size] = {}
        self._loading: Counter[UUID] = Counter()
        self._moved_while_loading: set[UUID] = set()

    def __len__(self) -> int:
        return len(self._aggregates)

    @property
    def bytes(self) -> int:
        """How much memory the entries take, about."""
        return self._bytes

    def get(self, aggregate_id: UUID) -> LoggedAggregate | None:
        aggregate = self._aggregates.get(aggregate_id.int)
        # The order matters only when the cache may soon be full.
        if aggregate is not None and self._bytes * 2 > self._bytes_max:
            self._aggregates.move_to_end(aggregate_id.int)
        return aggregate

    def put(self, aggregate: LoggedAggregate, event_bytes: int | None = None) -> None:
        """Store a committed aggregate unless a newer version is cached.

        ``event_bytes``: how large the events are that have just been applied to the
        version that is cached; None where that isn't known.
        """
        key = aggregate.id.int
        self._distrust(aggregate.id)
        known = self._aggregates.get(key)
        if known is not None and known.version >= aggregate.version:
            return
        size = self._size(key, aggregate, event_bytes)
        self._evict(key)
        if size.bytes * 2 > self._bytes_max:
            return
        self._aggregates[key], self._sizes[key] = aggregate, size
        self._bytes += size.bytes
        while self._bytes > self._bytes_max:
            self._evict(next(iter(self._aggregates)))

    def moved(self, aggregate_id: UUID, version: int) -> None:
        """Evict an entry that is older than a version in the log."""
        known = self._aggregates.get(aggregate_id.int)
        if known is not None and known.version < version:
            self._evict(aggregate_id.int)
        self._distrust(aggregate_id)

    def forget(self, aggregate_id: UUID, version: int) -> None:
        """Evict an entry of a version that isn't the current one."""
        known = self._aggregates.get(aggregate_id.int)
        if known is not None and known.version == version:
            self._evict(aggregate_id.int)
        self._distrust(aggregate_id)

    def clear(self) -> None:
        """Evict everything, also the results of loads under way."""
        self._aggregates.clear()
        self._sizes.clear()
        self._bytes = 0
        self._moved_while_loading.update(self._loading)

    def _size(
        self, key: int, aggregate: LoggedAggregate, event_bytes: int | None
    ) -> "_Size":
        """Estimate by the new events; measure when the size may have doubled.

        So it takes time in proportion to the events' bytes, whatever the size.
        """
        known = self._sizes.get(key)
        if known is not None and event_bytes is not None:
            estimate = known.bytes + event_bytes * BYTES_OF_EVENT_BYTE
            if estimate <= min(known.measured * 2, self._bytes_max // 2):
                return _Size(estimate, known.measured)
        measured = ENTRY_BYTES + footprint(vars(aggregate))
        return _Size(measured, measured)

    def _evict(self, key: int) -> None:
        if self._aggregates.pop(key, None) is not None:
            self._bytes -= self._sizes.pop(key).bytes

    def _distrust(self, aggregate_id: UUID) -> None:
        if self._loading and aggregate_id in self._loading:
            self._moved_while_loading.add(aggregate_id)

    @contextmanager
    def loading(self, aggregate_id: UUID) -> Iterator["Loading"]:
        """Cache the result of a load unless the aggregate has changed meanwhile."""
        self._loading[aggregate_id] += 1
        loading = Loading()
        try:
            yield loading
            if (
                loading.aggregate is not None
                and aggregate_id not in self._moved_while_loading
            ):
                self.put(loading.aggregate)
        finally:
            self._loading[aggregate_id] -= 1
            if not self._loading[aggregate_id]:
                del self._loading[aggregate_id]
                self._moved_while_loading.discard(aggregate_id)


class _Size(NamedTuple):
    """How many bytes an entry takes by estimate, and when it was measured last."""

    bytes: int
    measured: int


class Loading:
    """A load under way; its result is set by the loader."""

    aggregate: LoggedAggregate | None = None
