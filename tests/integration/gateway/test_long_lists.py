"""Where the list of an upstream's tools ends."""

from typing import Any

import pytest
from aiohttp import web

from service.gateway.health.table import Succeeded
from service.gateway.upstream.listing import PAGES_MAX
from tests.integration.gateway.plain_upstream import answered, plain_upstream
from tests.integration.gateway.stage import opened
from tests.integration.gateway.test_observer import observed, pages


async def test_of_a_list_that_goes_on_and_on_the_first_pages_are_kept() -> None:
    names = [*map(str, range(PAGES_MAX + 1))]
    async with plain_upstream(pages(*names)) as upstream, opened() as stage:
        stage.gate.connect(upstream.url)

        assert await observed(stage) == [names[:PAGES_MAX]]
        (noted,) = stage.noted
    assert isinstance(noted, Succeeded)
    assert noted.tools == PAGES_MAX
    assert noted.note == (
        f"{PAGES_MAX} tools of the first {PAGES_MAX} pages were taken, and the list "
        "goes on; let the server send more tools in a page"
    )


@pytest.mark.parametrize(
    ("cursors", "asked"),
    [
        ([""], 1),
        (["a", "a"], 2),
        (["a", "b", "a"], 3),
        (["a", "b", "b"], 3),
        ([None], 1),
        ([False], 1),
        ([{}], 1),
        ([["a"], ["a"]], 2),
    ],
)
async def test_a_list_ends_with_a_cursor_that_leads_nowhere(
    cursors: list[Any], asked: int
) -> None:
    given = iter(cursors)

    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        tool = {"name": f"t{len(upstream.requests)}", "inputSchema": {}}
        return answered(body, {"tools": [tool], "nextCursor": next(given)})

    async with plain_upstream(answer) as upstream, opened() as stage:
        stage.gate.connect(upstream.url)

        assert await observed(stage) == [[f"t{n}" for n in range(1, asked + 1)]]
        (noted,) = stage.noted
    assert isinstance(noted, Succeeded)
    assert noted.note is None
