"""The names of connectors' tools as this process knows them, for warnings."""

from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from cachetools import LRUCache, TTLCache

from service.connectors.aggregate import Connector
from service.event_log.log import EventLog
from service.gateway.definitions.aggregate import ToolDefinitions
from service.gateway.prefixes import prefixes_for
from service.gateway.tool_aliases import tools_by_alias
from service.tool_rules.known_tools import UNKNOWN, KnownTools

KEPT_MAX: Final = 256
# What another process observes first is not noticed by its id; so for a second only.
ABSENT_MAX: Final = 20_000
ABSENT_AGE_MAX_S: Final = 1.0


class _Kept(NamedTuple):
    """What is known of a connector's tools, with what it was made from."""

    connector: Connector
    definitions: ToolDefinitions | None
    known: KnownTools


class LatestToolNames:
    """Names from the log; implements ToolNames."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        # By numbers of ids.
        self._kept: LRUCache[int, _Kept] = LRUCache(KEPT_MAX)
        self._absent: TTLCache[int, bool] = TTLCache(ABSENT_MAX, ABSENT_AGE_MAX_S)

    async def known_tools(self, connector_id: UUID) -> KnownTools:
        connector = await self._log.load(connector_id)
        definitions = await self._definitions(connector_id)
        if not isinstance(connector, Connector):
            return UNKNOWN
        kept = self._kept.get(connector_id.int)
        if (
            kept is None
            or kept.connector is not connector
            or kept.definitions is not definitions
        ):
            known = _known(connector, definitions)
            kept = self._kept[connector_id.int] = _Kept(connector, definitions, known)
        return kept.known

    async def _definitions(self, connector_id: UUID) -> ToolDefinitions | None:
        definitions_id = ToolDefinitions.id_for(connector_id)
        found = self._log.cache.get(definitions_id)
        if found is None and definitions_id.int not in self._absent:
            found = await self._log.load(definitions_id)
            if found is None:
                self._absent[definitions_id.int] = True
        return found if isinstance(found, ToolDefinitions) else None


def _known(connector: Connector, definitions: ToolDefinitions | None) -> KnownTools:
    prefixes = prefixes_for(connector.id, connector.slug)
    if definitions is None:
        return KnownTools(prefixes=prefixes)
    names = tuple(sorted(definitions.known))
    return KnownTools(
        names=names,
        prefixes=prefixes,
        aliases_from=partial(tools_by_alias, connector.id, connector.slug, names),
    )
