"""An agent's list of tools, rendered once for as long as nothing changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from uuid import UUID

import orjson
from cachetools import LRUCache

from service.gateway.endpoint.tool_search import ToolSearch
from service.gateway.gate import Caller, ListedTool, ToolList
from service.gateway.protocol.aliases import aliases_of
from service.gateway.protocol.headers import mirrored_arguments

CALLERS_MAX: Final = 256
# A client asks again after this time; rules count for calls at once.
TTL_MS: Final = 5_000


@dataclass(frozen=True)
class Tool:
    """A tool under the name that the agent uses."""

    listed: ListedTool

    @cached_property
    def mirrored(self) -> Mapping[tuple[str, ...], str]:
        """The arguments that headers repeat, by the pinned definition."""
        return mirrored_arguments(self.listed.definition.document.get("inputSchema"))


class Tools:
    """The tools of one caller: of all its connectors, by alias, or of one, by name."""

    def __init__(self, listed: ToolList, *, aliased: bool) -> None:
        self.listed = listed
        named = _aliased if aliased else _named
        self.by_name = named(listed.tools)

    @cached_property
    def search(self) -> ToolSearch | None:
        """What searches the tools; None where all are always listed.

        It is there before they are too many: a client may hold the list of before.
        """
        if self.listed.listed_max is None:
            return None
        return ToolSearch({name: tool.listed for name, tool in self.by_name.items()})

    @cached_property
    def stateless_list(self) -> orjson.Fragment:
        """The result of tools/list in the stateless revision."""
        return orjson.Fragment(
            orjson.dumps(
                {
                    "resultType": "complete",
                    "tools": self._documents(is_stateless=True),
                    "ttlMs": TTL_MS,
                    "cacheScope": "private",
                }
            )
        )

    @cached_property
    def handshake_list(self) -> orjson.Fragment:
        """The result of tools/list in revisions with a handshake."""
        return orjson.Fragment(
            orjson.dumps({"tools": self._documents(is_stateless=False)})
        )

    def _documents(self, *, is_stateless: bool) -> Sequence[Mapping[str, Any]]:
        listed_max = self.listed.listed_max
        if self.search and listed_max is not None and len(self.by_name) > listed_max:
            return self.search.documents
        return [
            _document(name, tool, is_stateless=is_stateless)
            for name, tool in self.by_name.items()
        ]


class ToolCatalog:
    """The tools of the callers that asked last."""

    def __init__(self) -> None:
        # By numbers of ids: hashing a UUID takes a call of a Python function.
        self._tools: LRUCache[tuple[int, int | None, int | None], Tools] = LRUCache(
            CALLERS_MAX
        )

    def tools(
        self, caller: Caller, connector_id: UUID | None, listed: ToolList
    ) -> Tools:
        """Return the tools as ``listed``, which is compared by identity first."""
        key = (
            caller.agent_id.int,
            caller.user_id.int if caller.user_id else None,
            connector_id.int if connector_id else None,
        )
        known = self._tools.get(key)
        if known is None or (known.listed is not listed and known.listed != listed):
            known = self._tools[key] = Tools(listed, aliased=connector_id is None)
        return known


def _document(name: str, tool: Tool, *, is_stateless: bool) -> Mapping[str, Any]:
    presented = tool.listed.definition.presented
    document = {**presented.document, "name": name}
    if not is_stateless and not presented.has_object_output:
        document.pop("outputSchema", None)
    return document


def _named(listed: Sequence[ListedTool]) -> dict[str, Tool]:
    return {each.definition.name: Tool(each) for each in listed}


def _aliased(listed: Sequence[ListedTool]) -> dict[str, Tool]:
    by_key = {
        (each.connector.connector_id, each.definition.name): each for each in listed
    }
    prefixes = {each.connector.connector_id: each.prefix for each in listed}
    aliases = aliases_of(prefixes, by_key)
    order = {key: number for number, key in enumerate(by_key)}
    return {
        alias: Tool(by_key[key])
        for alias, key in sorted(aliases.items(), key=lambda item: order[item[1]])
    }
