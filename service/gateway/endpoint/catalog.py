"""An agent's list of tools, rendered once for as long as nothing changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from weakref import WeakKeyDictionary

import orjson

from service.gateway.endpoint.tool_search import ToolSearch
from service.gateway.gate import ListedTool, ToolList
from service.gateway.protocol.headers import mirrored_arguments
from service.tool_definitions.aliases import aliases_of

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
        self._listed_max = listed.listed_max
        named = _aliased if aliased else _named
        self.by_name = named(listed.tools)

    @cached_property
    def search(self) -> ToolSearch | None:
        """What searches the tools; None where all are always listed.

        It is there before they are too many: a client may hold the list of before.
        """
        if self._listed_max is None:
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
        listed_max = self._listed_max
        if self.search and listed_max is not None and len(self.by_name) > listed_max:
            return self.search.documents
        return [
            _document(name, tool, is_stateless=is_stateless)
            for name, tool in self.by_name.items()
        ]


class ToolCatalog:
    """What is made of lists of tools, for as long as these are in memory."""

    def __init__(self) -> None:
        self._tools: WeakKeyDictionary[ToolList, Tools] = WeakKeyDictionary()

    def tools(self, listed: ToolList, *, aliased: bool) -> Tools:
        known = self._tools.get(listed)
        if known is None:
            known = self._tools[listed] = Tools(listed, aliased=aliased)
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
