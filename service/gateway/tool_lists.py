"""Lists of an agent's tools, kept as long as what they were read from stands."""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import orjson

from service.agents.aggregate import Agent
from service.call_recording.modes import RecordMode
from service.call_recording.recorder import SYSTEM
from service.connectors.aggregate import Connector
from service.connectors.prefixes import prefixes_of
from service.connectors.protocol_revision import known_revision
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.decision import connectors_named
from service.gateway.definition import ToolDefinition
from service.gateway.facts import find_facts, slugs_of
from service.gateway.gate import ListedTool, ToolList, Upstream
from service.gateway.kept_lists import KeptList, KeptLists
from service.gateway.schemas.hidden import HiddenCharacters
from service.identifiers import id_text
from service.pacing import in_thread
from service.tool_definitions.aggregate import StoredDefinition
from service.tool_rules.aggregate import ToolRules

# What another process makes is not noticed by its id; so with something missing, a
# list is valid so long only.
INCOMPLETE_AGE_MAX_S: Final = 1.0


class ToolLists:
    """Lists tools as calls are decided, from the log; keeps lists and definitions."""

    def __init__(
        self, log: EventLog, hidden_characters: HiddenCharacters, bytes_max: int
    ) -> None:
        self._log = log
        self._hidden_characters = hidden_characters
        self._kept = KeptLists(bytes_max)

    async def tools(self, agent_id: UUID, connector_id: UUID | None) -> ToolList:
        """Return the tools of one connector, or of all, that an agent may call."""
        key = (agent_id.int, connector_id.int if connector_id else None)
        kept = self._kept.get(key)
        if kept is None or not self._is_current(kept):
            made = await self._list(agent_id, connector_id)
            if kept is not None and _has_same_tools(kept.listed, made.listed):
                made = replace(made, listed=kept.listed)
            kept = self._kept.put(key, made)
        return kept.listed

    def _is_current(self, kept: KeptList) -> bool:
        age_s = time.monotonic() - kept.since
        if age_s > INCOMPLETE_AGE_MAX_S and not kept.is_complete:
            return False
        return kept.is_of(self._log.history, self._log.cache)

    async def _list(self, agent_id: UUID, only: UUID | None) -> KeptList:
        since, history = time.monotonic(), self._log.history
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
            tools += (
                ListedTool(
                    connector=upstream,
                    prefix=prefixes[upstream.connector_id],
                    definition=definition,
                )
                for definition in await self._definitions(callable_tools)
            )
        return KeptList(
            history=history,
            listed=ToolList(tuple(tools), await _listed_max(work, agent_id, only)),
            reads=work.reads,
            since=since,
        )

    async def _definitions(
        self, tools: Sequence[tuple[str, StoredDefinition]]
    ) -> list[ToolDefinition]:
        """Return definitions; parse those that no list has in a thread."""
        known = {
            digest: definition
            for _, stored in tools
            if (definition := self._kept.definition(digest := stored["digest"]))
        }
        new = [each for each in tools if each[1]["digest"] not in known]
        for definition in await in_thread(self._checked, new) if new else ():
            known[definition.digest] = definition
        return [known[stored["digest"]] for _, stored in tools]

    def definition(self, name: str, stored: StoredDefinition) -> ToolDefinition:
        """Return a recorded definition."""
        return self._kept.definition(stored["digest"]) or self._parsed(name, stored)

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
            # Both are kept by the definition.
            _ = each.footprint, each.document_bytes
        return parsed


def _has_same_tools(one: ToolList, other: ToolList) -> bool:
    return (one.tools, one.listed_max) == (other.tools, other.listed_max)


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
