"""A bounded cache of committed aggregates."""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from service.aggregate import LoggedAggregate


class AggregateCache:
    """An LRU cache; entries can be stale when another process has written.

    Each decision on an entry is checked against the log before it counts.
    """

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max
        # By the id's number: hashing a UUID takes a call of a Python function.
        self._aggregates: OrderedDict[int, LoggedAggregate] = OrderedDict()
        self._loading: Counter[UUID] = Counter()
        self._moved_while_loading: set[UUID] = set()

    def __len__(self) -> int:
        return len(self._aggregates)

    def get(self, aggregate_id: UUID) -> LoggedAggregate | None:
        aggregate = self._aggregates.get(aggregate_id.int)
        # The order matters only when the cache may soon be full.
        if aggregate is not None and len(self._aggregates) * 2 > self._size_max:
            self._aggregates.move_to_end(aggregate_id.int)
        return aggregate

    def put(self, aggregate: LoggedAggregate) -> None:
        """Store a committed aggregate unless a newer version is cached."""
        key = aggregate.id.int
        self._distrust(aggregate.id)
        known = self._aggregates.get(key)
        if known is not None and known.version >= aggregate.version:
            return
        self._aggregates[key] = aggregate
        self._aggregates.move_to_end(key)
        while len(self._aggregates) > self._size_max:
            self._aggregates.popitem(last=False)

    def moved(self, aggregate_id: UUID, version: int) -> None:
        """Evict an entry that is older than a version in the log."""
        known = self._aggregates.get(aggregate_id.int)
        if known is not None and known.version < version:
            del self._aggregates[aggregate_id.int]
        self._distrust(aggregate_id)

    def forget(self, aggregate_id: UUID, version: int) -> None:
        """Evict an entry of a version that isn't the current one."""
        known = self._aggregates.get(aggregate_id.int)
        if known is not None and known.version == version:
            del self._aggregates[aggregate_id.int]
        self._distrust(aggregate_id)

    def clear(self) -> None:
        """Evict everything, also the results of loads under way."""
        self._aggregates.clear()
        self._moved_while_loading.update(self._loading)

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


class Loading:
    """A load under way; its result is set by the loader."""

    aggregate: LoggedAggregate | None = None
