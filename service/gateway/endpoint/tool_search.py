"""The gateway's own two tools, in place of a long list: one finds, one calls."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import orjson

from service.errors import TooManyRequestsError
from service.gateway.endpoint.ranking import Described, Ranking
from service.gateway.endpoint.results import failed, said
from service.gateway.gate import ListedTool
from service.gateway.protocol.messages import Message
from service.gateway.upstream.limits import CALLS_OF_AGENT_MAX, RETRY_AFTER
from service.pacing import in_thread

# Every alias has an underscore: no tool of a connector has these names.
FIND_TOOLS: Final = "find-tools"
CALL_TOOL: Final = "call-tool"
UNKNOWN_NAME: Final = f"unknown tool; {FIND_TOOLS} returns the names of those there are"
QUERY_CHARACTERS_MAX: Final = 1_000
FOUND: Final = 5
FOUND_MAX: Final = 20
ANSWER_BYTES_MAX: Final = 64 * 1024
# As much as some providers of models take.
DESCRIPTION_CHARACTERS_MAX: Final = 1_024
PREFIXES_CHARACTERS_MAX: Final = 400
PREFIXES_MAX: Final = 500


class ToolSearch:
    """Finds among an agent's tools, by alias, and says which one a call means."""

    def __init__(self, tools: Mapping[str, ListedTool]) -> None:
        self._tools = tools
        # One agent's searches take one thread of all.
        self._turn = asyncio.Lock()
        self._in_flight = 0

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The two tools, as the agent's list has them."""
        return [
            {"name": FIND_TOOLS, "description": self._description, **_FIND},
            {"name": CALL_TOOL, **_CALL},
        ]

    async def meant(self, message: Message) -> Message | dict[str, Any]:
        """Return the call that a call means: most are themselves.

        Or the result of one that means none: what was found, or what is wrong.

        :raises TooManyRequestsError: too many searches wait already
        """
        name = message.params.get("name")
        if name not in (FIND_TOOLS, CALL_TOOL):
            return message
        arguments = message.params.get("arguments", {})
        if not isinstance(arguments, dict):
            return failed("arguments must be an object")
        if name == CALL_TOOL:
            return _called(message, arguments)
        return await self._find(arguments)

    async def _find(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        query, limit = arguments.get("query"), arguments.get("limit")
        if limit is None:
            limit = FOUND
        if not isinstance(query, str) or len(query) > QUERY_CHARACTERS_MAX:
            return failed(
                f"query must be a text of at most {QUERY_CHARACTERS_MAX} characters"
            )
        if type(limit) is not int or not 1 <= limit <= FOUND_MAX:
            return failed(f"limit must be an integer from 1 to {FOUND_MAX}")
        found = await self._found_in_turn(query, limit)
        return said(orjson.dumps(found).decode())

    async def _found_in_turn(self, query: str, limit: int) -> dict[str, Any]:
        """Search beside the event loop: thousands of tools take some milliseconds.

        :raises TooManyRequestsError: too many searches wait already
        """
        if self._in_flight >= CALLS_OF_AGENT_MAX:
            raise TooManyRequestsError(
                f"the agent has {CALLS_OF_AGENT_MAX} searches in flight; search again "
                "in a second",
                code="too_many_calls",
                headers=RETRY_AFTER,
            )
        self._in_flight += 1
        try:
            async with self._turn:
                return await in_thread(self.found, query, limit)
        finally:
            self._in_flight -= 1

    def found(self, query: str, limit: int) -> dict[str, Any]:
        """Return the best matches, or what there is where nothing matches."""
        names = [*self._tools]
        matches = [names[place] for place in self._ranking.ranked(query)]
        if (exact := query.strip()) in self._tools:
            matches = [exact, *(each for each in matches if each != exact)]
        if not matches:
            prefixes = dict([*self._prefixes.items()][:PREFIXES_MAX])
            return {"matches": 0, "tools": [], "connectors": prefixes}
        return {"matches": len(matches), "tools": self._shown(matches, limit)}

    def _shown(self, names: Sequence[str], limit: int) -> list[dict[str, Any]]:
        """Return tools as long as there is room; the first is always shown."""
        shown: list[dict[str, Any]] = []
        left = ANSWER_BYTES_MAX
        for name in names:
            document = _shown(name, self._tools[name])
            size = len(orjson.dumps(document))
            if size <= left or not shown:
                shown.append(document)
                left -= size
            if len(shown) == limit:
                break
        return shown

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(_described(each) for each in self._tools.values())

    @cached_property
    def _prefixes(self) -> Mapping[str, int]:
        """How many tools each connector has."""
        counted = Counter(each.prefix for each in self._tools.values())
        return dict(sorted(counted.items()))

    @cached_property
    def _description(self) -> str:
        listed: list[str] = []
        left = PREFIXES_CHARACTERS_MAX
        for prefix, count in self._prefixes.items():
            each = f"{prefix} ({count})"
            left -= len(each) + 2
            if left < 0:
                listed.append(f"and {len(self._prefixes) - len(listed)} more")
                break
            listed.append(each)
        return (
            f"Find the tools that you can call. There are {len(self._tools)} of them, "
            f"of these connectors: {', '.join(listed)}. Say in a few words what you "
            'want to do, such as "create issue", with the name of a connector where '
            "you know it. You get the best matches, each with its name, description "
            f"and inputSchema; call one by {CALL_TOOL}. If none fits, search again "
            "with other words; an empty query lists the connectors."
        )


def _called(message: Message, arguments: Mapping[str, Any]) -> Message | dict[str, Any]:
    if arguments.keys() - {"name", "arguments"}:
        return failed(
            f"{CALL_TOOL} takes name and arguments; put the tool's own arguments into "
            "arguments"
        )
    given = arguments.get("arguments")
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return failed("arguments.arguments must be an object, not a text of one")
    params = {**message.params, "name": arguments.get("name"), "arguments": given}
    return Message(message.id, message.method, params)


def _described(tool: ListedTool) -> Described:
    document = tool.definition.presented.document
    properties = document["inputSchema"].get("properties")
    # Servers of older revisions have the title among the hints.
    titles = document.get("title"), document.get("annotations", {}).get("title")
    title = " ".join(each for each in titles if each)
    description = document.get("description")
    return Described(
        name=f"{tool.prefix} {tool.definition.name} {title}",
        properties=" ".join(properties) if isinstance(properties, dict) else "",
        description=description or "",
    )


def _shown(name: str, tool: ListedTool) -> dict[str, Any]:
    document = tool.definition.presented.document
    shown = {"name": name}
    description = document.get("description")
    if description:
        cut = len(description) > DESCRIPTION_CHARACTERS_MAX
        shown["description"] = (
            f"{description[: DESCRIPTION_CHARACTERS_MAX - 1]}…" if cut else description
        )
    return {**shown, "inputSchema": document["inputSchema"]}


_FIND: Final[Mapping[str, Any]] = {
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "maxLength": QUERY_CHARACTERS_MAX,
                "description": "What the tool should do, in a few words; or its name.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": FOUND_MAX,
                "default": FOUND,
                "description": "How many tools to return at most.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
_CALL: Final[Mapping[str, Any]] = {
    "description": (
        f"Call a tool that {FIND_TOOLS} has found. The result is the tool's own. Find "
        "a tool first, unless you know its name and inputSchema already."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "description": f"The tool's name, exactly as {FIND_TOOLS} returned it.",
            },
            "arguments": {
                "type": "object",
                "additionalProperties": True,
                "description": "The tool's arguments, as its inputSchema says.",
            },
        },
        "required": ["name", "arguments"],
        "additionalProperties": False,
    },
}
