"""The names of a connector's tools, and the interface by which warnings learn them."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, Protocol
from uuid import UUID

from aiohttp import web

from service.tool_rules.comparison import Work
from service.tool_rules.glob import ANY_ONE, ANY_RUN, compiled

# Separates names; no pattern has it.
_END: Final = "\n"
_SPELLINGS: Final = str.maketrans("-./:", "____")


def spelling(text: str) -> str:
    """Return a name or pattern without its case and its choice of separators."""
    return text.lower().translate(_SPELLINGS)


class Names:
    """Names that patterns are looked for in."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = [each for each in names if _END not in each]
        self._text = _END.join(["", *self.names, ""])

    def __len__(self) -> int:
        return len(self.names)

    def first_match(self, pattern: str, work: Work) -> int | None:
        """Return the number of the first name that a pattern matches whole.

        None without one, or if the pattern is no plain part of names, and looking for
        it takes more than the remaining work.
        """
        part = plain_part(pattern)
        if part is not None:
            # Cheap enough to be done in any case.
            work.left -= len(self._text)
            return self._first_with(part)
        if not work.affords([pattern], self.names):
            return None
        match = compiled(pattern)
        return next((n for n, each in enumerate(self.names) if match(each)), None)

    def _first_with(self, part: str) -> int | None:
        at = self._text.find(part)
        if at < 0 or not self.names:
            return None
        # The part may begin with the end of the name before.
        at += part.startswith(_END)
        return max(bisect_right(self._starts, at) - 1, 0)

    @cached_property
    def _starts(self) -> list[int]:
        lengths = (len(each) + len(_END) for each in self.names)
        return [*accumulate(lengths, initial=len(_END))]


def plain_part(pattern: str) -> str | None:
    """Return the one text that names have to contain; None for another pattern.

    With the ends of names around it where no ``*`` is.
    """
    inner = pattern.strip(ANY_RUN)
    if ANY_RUN in inner or ANY_ONE in inner:
        return None
    begin = "" if pattern.startswith(ANY_RUN) else _END
    end = "" if pattern.endswith(ANY_RUN) else _END
    return begin + inner + end


def _no_aliases() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class KnownTools:
    """The tools that a connector was observed to have, also those that are gone.

    ``names`` is None if it was never observed. ``prefixes`` are what the aliases of
    its tools begin with, before ``_``, and ``aliases`` are the tools by alias.
    """

    names: tuple[str, ...] | None = None
    prefixes: tuple[str, ...] = ()
    aliases_from: Callable[[], Mapping[str, str]] = _no_aliases

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        return self.aliases_from()

    @cached_property
    def searched(self) -> Names:
        return Names(self.names or ())

    @cached_property
    def spelled(self) -> Names:
        return Names([*map(spelling, self.names or ())])


UNKNOWN: Final = KnownTools()


class ToolNames(Protocol):
    """The names of the tools of connectors."""

    async def known_tools(
        self, connector_ids: Iterable[str]
    ) -> Mapping[str, KnownTools]:
        """Return what this process knows of the tools of connectors.

        A decision doesn't rest on it, so that no observation makes a command wait.
        """

    async def prefixes(
        self, agent_id: UUID, connector_ids: Iterable[str]
    ) -> Mapping[str, str]:
        """Return what aliases of an agent with rules for these connectors begin with.

        By connector that the agent holds; likewise.
        """


class NoToolNames:
    """Those of a service without the gateway, which observes no connector."""

    async def known_tools(
        self, connector_ids: Iterable[str]
    ) -> Mapping[str, KnownTools]:
        return dict.fromkeys(connector_ids, UNKNOWN)

    async def prefixes(
        self, _agent_id: UUID, _connector_ids: Iterable[str]
    ) -> Mapping[str, str]:
        return {}


TOOL_NAMES: web.AppKey[ToolNames] = web.AppKey("tool_names")
