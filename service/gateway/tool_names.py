"""The names of connectors' tools as this process knows them, for warnings."""

import time
from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID
from weakref import ReferenceType, ref

from cachetools import LRUCache

from service.connectors.aggregate import Connector
from service.connectors.prefixes import prefixes_for, prefixes_of
from service.event_log.latest import LatestFacts
from service.event_log.log import EventLog
from service.identifiers import id_text
from service.tool_definitions.aggregate import ToolDefinitions
from service.tool_definitions.aliases import tools_by_alias
from service.tool_rules.known_tools import UNKNOWN, KnownTools

NAMES_MAX: Final = 100_000
# What another process observes first is not noticed by its id; so what was never
# observed is looked for again after some seconds, not for each command.
ABSENT_AGE_MAX_S: Final = 10.0


class _Kept(NamedTuple):
    """What is known of a connector's tools, with what it was made from, and when.

    The references are weak: what leaves the log's cache is to leave memory.
    """

    connector: ReferenceType[Connector] | None
    definitions_id: UUID
    definitions: ReferenceType[ToolDefinitions] | None
    at: float
    known: KnownTools


class LatestToolNames:
    """Names from the log; implements ToolNames."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        # By the texts of ids: rules have these, and a UUID takes longer to make than
        # all else here.
        self._kept: LRUCache[str, _Kept] = LRUCache(NAMES_MAX, _size)

    async def known_tools(self, connector_ids: Iterable[str]) -> dict[str, KnownTools]:
        found: dict[str, KnownTools] = {}
        for each in connector_ids:
            kept = self._kept.get(each)
            if kept is None or not self._is_current(kept):
                kept = await self._look(each)
            found[each] = kept.known
        return found

    async def prefixes(
        self, agent_id: UUID, connector_ids: Iterable[str]
    ) -> dict[str, str]:
        latest = LatestFacts(self._log)
        found = [await latest.find(Connector, UUID(each)) for each in connector_ids]
        connectors = [each for each in found if each is not None]
        prefixes = prefixes_of({each.id: each.slug for each in connectors})
        return {
            id_text(each.id): prefixes[each.id]
            for each in connectors
            if not each.is_retired and each.is_granted_to(agent_id)
        }

    def _is_current(self, kept: _Kept) -> bool:
        cache = self._log.cache
        connector = kept.connector() if kept.connector else None
        if connector is None or cache.get(connector.id) is not connector:
            return False
        definitions = cache.get(kept.definitions_id)
        if kept.definitions is None:
            return definitions is None and (
                time.monotonic() - kept.at < ABSENT_AGE_MAX_S
            )
        return definitions is not None and definitions is kept.definitions()

    async def _look(self, connector_id: str) -> _Kept:
        ids = UUID(connector_id), ToolDefinitions.create_id(connector_id)
        connector, definitions = [await self._log.load(each) for each in ids]
        if not isinstance(connector, Connector):
            connector = None
        if not isinstance(definitions, ToolDefinitions):
            definitions = None
        known = _known(connector, definitions)
        kept = _Kept(
            ref(connector) if connector else None,
            ids[1],
            ref(definitions) if definitions else None,
            time.monotonic(),
            known,
        )
        self._kept[connector_id] = kept
        return kept


def _size(kept: _Kept) -> int:
    return 1 + len(kept.known.names or ())


def _known(
    connector: Connector | None, definitions: ToolDefinitions | None
) -> KnownTools:
    if connector is None:
        return UNKNOWN
    prefixes = prefixes_for(connector.id, connector.slug)
    if definitions is None:
        return KnownTools(prefixes=prefixes)
    names = tuple(sorted(definitions.known))
    return KnownTools(
        names=names,
        prefixes=prefixes,
        aliases_from=partial(tools_by_alias, connector.id, connector.slug, names),
    )
