"""The complete list of an upstream's tools, page by page, within bounds."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from service.gateway.definition import NOT_PINNED, ToolDefinition
from service.gateway.gate import Outcome, Upstream
from service.gateway.upstream.answers import ignored
from service.gateway.upstream.client import UpstreamClient
from service.gateway.upstream.credential_echo import CredentialEcho
from service.gateway.upstream.errors import (
    NO_ANSWER,
    NotTakenError,
    UpstreamError,
    refused,
    unusable,
)
from service.gateway.upstream.exchange import Exchange
from service.gateway.upstream.lost_sessions import code_of
from service.gateway.upstream.requests import UpstreamRequest

LIST_S: Final = 60.0
PAGES_MAX: Final = 100
# Above the most that a connector may have, so that the surplus can be counted.
LISTED_MAX: Final = 5_000


@dataclass(frozen=True, slots=True)
class Listing:
    """``ttl_s`` is how long the upstream says that the list stays as it is.

    ``is_whole`` is false of one that goes on after ``PAGES_MAX`` pages, or after so
    many tools that none of the rest could be taken.
    """

    definitions: tuple[ToolDefinition, ...]
    ttl_s: float | None
    is_whole: bool = True


async def list_tools(client: UpstreamClient, upstream: Upstream) -> Listing:
    """Return the list as the service itself gets it.

    :raises UpstreamError: not reachable, or no MCP
    :raises ServiceError: the credential can't be revealed
    """
    try:
        async with asyncio.timeout(LIST_S):
            try:
                return await _list_tools(client, upstream)
            except NotTakenError:
                # From the first page on: its cursors were of the session, too.
                return await _list_tools(client, upstream)
    except TimeoutError:
        raise UpstreamError(NO_ANSWER, Outcome.TIMEOUT) from None


async def _list_tools(client: UpstreamClient, upstream: Upstream) -> Listing:
    found: dict[str, ToolDefinition] = {}
    cursor: Any = None
    asked: list[Any] = []
    ttl_s: float | None = None
    for _ in range(PAGES_MAX):
        withheld: set[str] = set()
        page = await _page(client, upstream, cursor, withheld)
        for tool in _tools(page, withheld):
            # Two tools may have one name; agents could only ever call the first.
            found.setdefault(tool.name, tool)
        ttl_s, cursor = _ttl_s(page.get("ttlMs")), page.get("nextCursor")
        if len(found) > LISTED_MAX:
            break
        # Some servers give an empty cursor at the end, or the same list for any.
        if not cursor or cursor in asked:
            return Listing(tuple(found.values()), ttl_s)
        asked.append(cursor)
    return Listing(tuple(found.values())[:LISTED_MAX], ttl_s, is_whole=False)


async def _page(
    client: UpstreamClient, upstream: Upstream, cursor: Any, withheld: set[str]
) -> dict[str, Any]:
    """Return a page; ``withheld`` gets the tools whose definitions must not be kept."""

    async def withhold(message: dict[str, Any], echo: CredentialEcho) -> None:
        # A cursor stays as it is: only its upstream is ever sent it.
        await _withhold(message.get("result"), echo, withheld)
        if "error" in message:
            await echo.remove_from(message)

    channel = await client.open_channel(upstream, None)
    params = {} if cursor is None else {"cursor": cursor}
    request = UpstreamRequest(method="tools/list", params=params)
    async with Exchange(client, upstream, channel, request) as exchange:
        message = await exchange.answer(ignored, withhold)
    if (error := message.get("error")) is not None:
        raise refused(code_of(error))
    result = message.get("result")
    if not isinstance(result, dict):
        raise unusable("no list of tools")
    return result


def _tools(page: dict[str, Any], withheld: Collection[str]) -> list[ToolDefinition]:
    if not isinstance(page.get("tools"), list):
        raise unusable("no list of tools")
    return [
        ToolDefinition.withheld(tool["name"])
        if tool["name"] in withheld
        else ToolDefinition.of(tool)
        for tool in _named(page)
    ]


def _named(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        tool
        for tool in page["tools"]
        if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    ]


async def _withhold(page: Any, echo: CredentialEcho, withheld: set[str]) -> None:
    """Find the definitions that hold the credential; leave out names that do."""
    if not isinstance(page, dict) or not isinstance(page.get("tools"), list):
        return
    kept = []
    for tool in _named(page):
        name = tool["name"]
        if await echo.remove_from([name]):
            continue
        document = {key: tool[key] for key in tool.keys() - NOT_PINNED}
        if await echo.remove_from(document):
            withheld.add(name)
        kept.append(tool)
    page["tools"] = kept


def _ttl_s(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value / 1000 if is_number and value >= 0 else None
