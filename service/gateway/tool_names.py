"""The names of connectors' tools as this process knows them, for warnings."""

from functools import partial
from typing import Final
from uuid import UUID

from cachetools import LRUCache, TTLCache

from service.connectors.aggregate import Connector
from service.event_log.log import EventLog
from service.gateway.definitions.aggregate import ToolDefinitions
from service.gateway.prefixes import prefixes_for
from service.gateway.tool_aliases import tools_by_alias
from service.tool_rules.known_tools import KnownTools

KEPT_MAX: Final = 256
# What another process observes first is not noticed by its id; so for a second only.
ABSENT_MAX: Final = 20_000
ABSENT_AGE_MAX_S: Final = 1.0


class LatestToolNames:
    """Names from the log; implements ToolNames."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        # By numbers of ids, with the aggregate and slug that they were made from.
        self._kept: LRUCache[int, tuple[ToolDefinitions, str, KnownTools]] = LRUCache(
            KEPT_MAX
        )
        self._absent: TTLCache[int, bool] = TTLCache(ABSENT_MAX, ABSENT_AGE_MAX_S)

    async def known_tools(self, connector_id: UUID) -> KnownTools:
        connector = await self._log.load(connector_id)
        definitions = await self._definitions(connector_id)
        if not isinstance(connector, Connector):
            return KnownTools()
        slug = connector.slug
        if definitions is None:
            return KnownTools(prefixes=prefixes_for(connector_id, slug))
        kept = self._kept.get(connector_id.int)
        if kept is None or kept[0] is not definitions or kept[1] != slug:
            names = tuple(sorted(definitions.known))
            known = KnownTools(
                names=names,
                prefixes=prefixes_for(connector_id, slug),
                aliases_from=partial(tools_by_alias, connector_id, slug, names),
            )
            kept = self._kept[connector_id.int] = (definitions, slug, known)
        return kept[2]

    async def _definitions(self, connector_id: UUID) -> ToolDefinitions | None:
        definitions_id = ToolDefinitions.id_for(connector_id)
        found = self._log.cache.get(definitions_id)
        if found is None and definitions_id.int not in self._absent:
            found = await self._log.load(definitions_id)
            if found is None:
                self._absent[definitions_id.int] = True
        return found if isinstance(found, ToolDefinitions) else None
