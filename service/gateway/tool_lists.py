"""Lists of an agent's tools, kept as long as what they were read from stands."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import orjson
from cachetools import LRUCache

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.connectors.prefixes import prefixes_of
from service.connectors.protocol_revision import known_revision
from service.event_log.cache import AggregateCache
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.calls.recorder import SYSTEM
from service.gateway.decision import connectors_named
from service.gateway.definition import ToolDefinition
from service.gateway.definitions.aggregate import StoredDefinition
from service.gateway.facts import find_facts, slugs_of
from service.gateway.gate import ListedTool, RecordMode, ToolList, Upstream
from service.gateway.schemas.hidden import HiddenCharacters
from service.identifiers import id_text
from service.pacing import in_thread
from service.tool_rules.aggregate import ToolRules

LISTS_MAX: Final = 1_000
LIST_AGE_MAX_S: Final = 1.0
DEFINITIONS_MAX: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _List:
    """A list of tools; valid while what it was read from has not moved.

    What another process makes is not noticed by its id; so with something missing, it
    is valid for a second only.
    """

    listed: ToolList
    reads: Mapping[UUID, int]
    is_complete: bool
    since: float

    def is_current(self, cache: AggregateCache) -> bool:
        if not self.is_complete and time.monotonic() - self.since > LIST_AGE_MAX_S:
            return False
        for aggregate_id, version in self.reads.items():
            known = cache.get(aggregate_id)
            if (known.version if known else 0) != version:
                return False
        return True


class ToolLists:
    """Lists tools as calls are decided, from the log; keeps parsed definitions."""

    def __init__(self, log: EventLog, hidden_characters: HiddenCharacters) -> None:
        self._log = log
        self._hidden_characters = hidden_characters
        # By numbers of ids: hashing a UUID takes a call of a Python function.
        self._lists: LRUCache[tuple[int, int | None], _List] = LRUCache(LISTS_MAX)
        self._definitions: LRUCache[str, ToolDefinition] = LRUCache(DEFINITIONS_MAX)

    async def tools(self, agent_id: UUID, connector_id: UUID | None) -> ToolList:
        """Return the tools of one connector, or of all, that an agent may call."""
        key = (agent_id.int, connector_id.int if connector_id else None)
        kept = self._lists.get(key)
        if kept is None or not kept.is_current(self._log.cache):
            kept = self._lists[key] = await self._list(agent_id, connector_id)
        return kept.listed

    async def _list(self, agent_id: UUID, only: UUID | None) -> _List:
        since = time.monotonic()
        work = UnitOfWork(self._log, metadata=SYSTEM, at=datetime.now(UTC))
        rules = await work.find(ToolRules, ToolRules.create_id(id_text(agent_id)))
        named = connectors_named(rules) if only is None else [only]
        facts = [await find_facts(work, agent_id, each) for each in named]
        prefixes = prefixes_of(slugs_of(facts))
        tools: list[ListedTool] = []
        for each in facts:
            if each.connector is None or each.definitions is None:
                continue
            upstream = upstream_of(each.connector)
            callable_tools = await in_thread(each.callable_tools)
            await self._parse(callable_tools)
            tools += (
                ListedTool(
                    connector=upstream,
                    prefix=prefixes[upstream.connector_id],
                    definition=self.definition(name, stored),
                )
                for name, stored in callable_tools
            )
        return _List(
            listed=ToolList(tuple(tools), await _listed_max(work, agent_id, only)),
            reads=work.reads,
            is_complete=all(work.reads.values()),
            since=since,
        )

    async def _parse(self, tools: Sequence[tuple[str, StoredDefinition]]) -> None:
        """Parse definitions, and check what of them agents see, in a thread."""
        new = [each for each in tools if each[1]["digest"] not in self._definitions]
        for definition in await in_thread(self._checked, new) if new else ():
            self._definitions[definition.digest] = definition

    def definition(self, name: str, stored: StoredDefinition) -> ToolDefinition:
        """Return a recorded definition, parsed once."""
        digest = stored["digest"]
        known = self._definitions.get(digest)
        if known is None:
            known = self._definitions[digest] = self._parsed(name, stored)
        return known

    def _parsed(self, name: str, stored: StoredDefinition) -> ToolDefinition:
        return ToolDefinition(
            name,
            orjson.loads(stored["document"]),
            stored["digest"],
            hidden_characters=self._hidden_characters,
        )

    def _checked(
        self, tools: Sequence[tuple[str, StoredDefinition]]
    ) -> list[ToolDefinition]:
        parsed = [self._parsed(name, stored) for name, stored in tools]
        for each in parsed:
            _ = each.presented
        return parsed


async def _listed_max(
    work: UnitOfWork, agent_id: UUID, only: UUID | None
) -> int | None:
    # In one connector's list, tools have their own names: the gateway's could be one.
    agent = await work.find(Agent, agent_id) if only is None else None
    return agent.tools_listed_max if agent else None


def upstream_of(connector: Connector) -> Upstream:
    """Return where a connector's calls go, without its credential."""
    return Upstream(
        connector_id=connector.id,
        url=connector.url,
        mode=RecordMode(connector.record_mode),
        version=connector.version,
        revision=known_revision(connector.protocol_revision),
        name=connector.name,
    )
