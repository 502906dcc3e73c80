"""The lists of tools that were asked for last, in memory; bounded in bytes."""

from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from service.event_log.cache import AggregateCache
from service.event_log.history import History
from service.gateway.definition import ToolDefinition
from service.gateway.gate import ToolList

LIST_BYTES: Final = 1_000
TOOL_BYTES: Final = 400
# Clients with a handshake and those without get a list in two forms.
FORMS: Final = 2

# An agent, and a connector or all; by numbers of ids: hashing a UUID takes a call of a
# Python function.
Key = tuple[int, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptList:
    """A list of tools, and the versions of the aggregates that it was read from.

    Of a log with another ``history`` the same versions may have other events.
    """

    history: History
    listed: ToolList
    reads: Mapping[UUID, int]
    since: float

    @property
    def is_complete(self) -> bool:
        return all(self.reads.values())

    def is_of(self, history: History, cache: AggregateCache) -> bool:
        """Say whether the cache has what was read."""
        if self.history is not history:
            return False
        for aggregate_id, version in self.reads.items():
            known = cache.get(aggregate_id)
            if (known.version if known else 0) != version:
                return False
        return True


class KeptLists:
    """An LRU cache of lists, with what is rendered of them, and their definitions.

    Lists share definitions, by digest. All together take about ``bytes_max`` at most,
    but the last one is kept whatever its size.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self.bytes = 0
        self._lists: OrderedDict[Key, KeptList] = OrderedDict()
        self._definitions: dict[str, ToolDefinition] = {}
        self._uses: Counter[str] = Counter()

    def get(self, key: Key) -> KeptList | None:
        found = self._lists.get(key)
        if found is not None:
            self._lists.move_to_end(key)
        return found

    def definition(self, digest: str) -> ToolDefinition | None:
        """Return a definition that a list has."""
        return self._definitions.get(digest)

    def put(self, key: Key, made: KeptList) -> KeptList:
        """Keep a list, and return it as it is kept.

        Lists that are made at the same time have parsed the same definitions: it has
        the ones that are kept.
        """
        made = self._sharing(made)
        # Before the list of before is dropped, with which it may share definitions.
        for each in made.listed.tools:
            definition = each.definition
            if definition.digest not in self._definitions:
                self._definitions[definition.digest] = definition
                self.bytes += definition.footprint
            self._uses[definition.digest] += 1
        self.bytes += _bytes(made.listed)
        self._drop(key)
        self._lists[key] = made
        while self.bytes > self._bytes_max and len(self._lists) > 1:
            self._drop(next(iter(self._lists)))
        return made

    def _sharing(self, made: KeptList) -> KeptList:
        tools = made.listed.tools
        kept = [self._definitions.get(each.definition.digest) for each in tools]
        if all(
            known is None or known is each.definition
            for known, each in zip(kept, tools, strict=True)
        ):
            return made
        shared = tuple(
            replace(each, definition=known or each.definition)
            for known, each in zip(kept, tools, strict=True)
        )
        return replace(made, listed=replace(made.listed, tools=shared))

    def _drop(self, key: Key) -> None:
        dropped = self._lists.pop(key, None)
        if dropped is None:
            return
        self.bytes -= _bytes(dropped.listed)
        for each in dropped.listed.tools:
            digest = each.definition.digest
            self._uses[digest] -= 1
            if not self._uses[digest]:
                del self._uses[digest]
                self.bytes -= self._definitions.pop(digest).footprint


def _bytes(listed: ToolList) -> int:
    """Return how many bytes a list takes, rendered, without its definitions."""
    return LIST_BYTES + sum(
        TOOL_BYTES + FORMS * each.definition.document_bytes for each in listed.tools
    )
