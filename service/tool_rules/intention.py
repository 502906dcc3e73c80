"""What the author of a pattern that matches no tool probably meant."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from service.tool_rules.body import PATTERN_CHARACTERS, PATTERN_CHARACTERS_MAX
from service.tool_rules.comparison import Work
from service.tool_rules.glob import ANY_ONE, ANY_RUN, has_wildcard, matches
from service.tool_rules.known_tools import KnownTools, spelling

# How MCP clients call a server's tools: mcp__server__tool, and some mcp_server_tool.
_CLIENTS: Final = re.compile(r"mcp(__?)", re.IGNORECASE)
_SEPARATORS: Final = "_./:-"
_WILDCARDS: Final = re.compile(r"[*?]+")
_TAKEN: Final = re.compile(rf"{PATTERN_CHARACTERS}{{1,{PATTERN_CHARACTERS_MAX}}}")
# Readings of one pattern that are tried, at most.
READINGS_MAX: Final = 24


def intended(pattern: str, known: KnownTools, work: Work) -> str | None:
    """Return a pattern that matches a known tool, and was probably meant."""
    for reading in islice(_readings(pattern, known, work), READINGS_MAX):
        found = _respelled(reading, known, work)
        if found is not None and _TAKEN.fullmatch(found):
            return found
        if work.left < 0:
            break
    return None


def certainly_intended(pattern: str, prefixes: tuple[str, ...]) -> str | None:
    """Return what was meant by a pattern with a prefix that isn't the tool's own.

    That of an MCP client, of aliases, or both: whatever the tools are.
    """
    if not pattern.startswith((*prefixes, "m", "M")):
        return None
    meant = pattern
    if (client := _CLIENTS.match(meant)) and client[1] == "__":
        server, _, tool = meant[client.end() :].partition("__")
        meant = tool or (ANY_RUN if server else "")
    for prefix in prefixes:
        if meant.startswith(f"{prefix}_"):
            meant = meant.removeprefix(f"{prefix}_")
            break
    return meant if meant and meant != pattern else None


def _readings(pattern: str, known: KnownTools, work: Work) -> Iterator[str]:
    """Yield what a pattern can mean, the least far-fetched first."""
    for name in (pattern, *_without_client(pattern)):
        if name in known.aliases:
            yield known.aliases[name]
        for each in (name, *_without_prefix(name, known.prefixes)):
            yield each
            if ".*" in each:
                # As a regular expression.
                yield each.replace(".*", ANY_RUN)
        yield from _of_aliases(name, known.aliases, work)


def _without_client(pattern: str) -> Iterator[str]:
    """Yield what may be the tool in a client's name; a server's name may have ``_``."""
    client = _CLIENTS.match(pattern)
    if client is None:
        return
    between, rest = client[1], pattern[client.end() :]
    parts = rest.split(between)
    for number in range(1, len(parts)):
        tool = between.join(parts[number:])
        # All tools are meant only of the server, not of what is behind its name.
        if tool and (number == 1 or not _is_everything(tool)):
            yield tool
    if rest:
        yield rest
    if len(parts) == 1 and rest and not has_wildcard(rest):
        yield ANY_RUN


def _without_prefix(name: str, prefixes: tuple[str, ...]) -> Iterator[str]:
    for prefix in prefixes:
        rest = name[len(prefix) :]
        if spelling(name[: len(prefix)]) != spelling(prefix):
            continue
        tool = rest.lstrip(_SEPARATORS)
        if tool and tool != rest:
            yield rest[1:]
            yield tool


def _of_aliases(name: str, aliases: Mapping[str, str], work: Work) -> Iterator[str]:
    """Yield what matches the tools whose aliases a pattern matches."""
    if not has_wildcard(name) or _is_everything(name):
        return
    if not work.affords([name], aliases):
        return
    tools = [tool for alias, tool in aliases.items() if matches(name, alias)]
    if not tools:
        return
    for end in (each.end() for each in re.finditer("_", name)):
        rest = name[end:]
        if not work.affords([rest], tools):
            return
        if rest and all(matches(rest, tool) for tool in tools):
            yield rest
    if len({*tools}) == 1:
        yield tools[0]


def _respelled(pattern: str, known: KnownTools, work: Work) -> str | None:
    """Return a pattern that matches a tool, in the spelling of the tool's name."""
    if known.searched.first_match(pattern, work) is not None:
        return pattern
    number = known.spelled.first_match(spelling(pattern), work)
    if number is None:
        return None
    found = _spelled_as(pattern, known.searched.names[number])
    is_match = known.searched.first_match(found, work) is not None
    return found if is_match else None


def _spelled_as(pattern: str, name: str) -> str:
    """Spell the parts of a pattern between wildcards as a name does."""
    spelled, found = spelling(name), ""
    at, end = 0, 0
    for wildcards in _WILDCARDS.finditer(pattern):
        at, part = _part(spelled, name, pattern[end : wildcards.start()], at)
        found += part + wildcards[0]
        end = wildcards.end()
    last = pattern[end:]
    return found + (name[len(name) - len(last) :] if last else "")


def _part(spelled: str, name: str, part: str, start: int) -> tuple[int, str]:
    at = max(spelled.find(spelling(part), start), start)
    return at + len(part), name[at : at + len(part)]


def _is_everything(pattern: str) -> bool:
    return not pattern.strip(ANY_RUN + ANY_ONE)
