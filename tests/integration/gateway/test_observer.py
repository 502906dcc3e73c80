"""When upstreams are asked for their tools, and what the gate is told."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from service.gateway import observer
from tests.integration.gateway.plain_upstream import (
    PlainUpstream,
    answered,
    hello,
    plain_upstream,
    streamed,
)
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.stage import Stage, forwarding, opened
from tests.support.waiting import TIMEOUT_S, until


async def observed(stage: Stage) -> list[list[str]]:
    await stage.observer.step()
    await stage.observer.settled()
    return [names for _, names in stage.gate.observations]


async def test_new_connectors_are_observed_at_once() -> None:
    async with serving(tools()) as url, opened() as stage:
        stage.gate.connect(url)

        assert await observed(stage) == [["add", "fail", "count"]]
        # Nothing is due.
        assert await observed(stage) == [["add", "fail", "count"]]


async def test_servers_with_a_handshake_are_observed() -> None:
    async with serving(tools(), handshake_only=True) as url, opened() as stage:
        stage.gate.connect(url)

        assert await observed(stage) == [["add", "fail", "count"]]


async def test_a_changed_connector_is_observed_again() -> None:
    async with serving(tools()) as url, opened() as stage:
        connector = stage.gate.connect(url)
        await observed(stage)

        stage.gate.change(connector, url=url + "/elsewhere")

        # Not there: nothing is told, rather than that it has no tools.
        assert await observed(stage) == [["add", "fail", "count"]]
        stage.gate.change(stage.gate.upstreams[connector.connector_id], url=url)
        assert await observed(stage) == [["add", "fail", "count"]] * 2


async def test_a_list_is_told_with_the_url_that_it_was_read_from() -> None:
    listing, listed = asyncio.Event(), asyncio.Event()

    async def list_slowly(request: web.Request, body: Any) -> web.StreamResponse:
        listing.set()
        await listed.wait()
        return await pages("add")(request, body)  # type: ignore[no-any-return]

    async with plain_upstream(list_slowly) as upstream, opened() as stage:
        connector = stage.gate.connect(upstream.url)
        await stage.observer.step()
        await asyncio.wait_for(listing.wait(), TIMEOUT_S)
        stage.gate.change(connector, url="http://127.0.0.1:1/mcp")
        listed.set()
        await stage.observer.settled()

    assert stage.gate.observed_urls == [upstream.url]


def pages(*names: str) -> Any:
    """Answer tools/list with a page for each name."""

    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        if body["method"] != "tools/list":
            return await hello(request, body)
        number = int(body["params"].get("cursor", 0))
        result: dict[str, Any] = {
            "resultType": "complete",
            "tools": [{"name": names[number], "inputSchema": {}}, 3, {"name": 4}],
            "ttlMs": 0,
        }
        if number + 1 < len(names):
            result["nextCursor"] = str(number + 1)
        return answered(body, result)

    return answer


async def test_lists_have_pages() -> None:
    async with plain_upstream(pages("a", "b", "a", "c")) as upstream, opened() as stage:
        stage.gate.connect(upstream.url)

        assert await observed(stage) == [["a", "b", "c"]]


async def say_list_changed(request: web.Request, body: Any) -> web.StreamResponse:
    if body["method"] == "tools/list":
        return await pages("add", "sub")(request, body)  # type: ignore[no-any-return]
    changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    result = '{"content":[{"type":"text","text":"x"}]}'
    answer = f'{{"jsonrpc":"2.0","id":{body["id"]},"result":{result}}}'
    return await streamed(request, changed.encode(), answer.encode())


async def test_a_change_told_during_a_call_is_observed_at_once() -> None:
    async with forwarding(say_list_changed) as (_, stage):
        got = await stage.call("tools_add")
        await stage.observer.settled()

    assert got.content == "x"
    assert "list_changed" not in got.text
    assert [names for _, names in stage.gate.observations] == [["add", "sub"]]


async def test_changes_told_in_a_row_are_observed_at_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(observer, "CHANGES_INTERVAL_S", 3600.0)
    async with forwarding(say_list_changed) as (_, stage):
        for _ in range(3):
            await stage.call("tools_add")
            await stage.observer.settled()

    assert len(stage.gate.observations) == 1


async def test_a_change_told_soon_after_another_is_observed_by_every_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only one of several processes takes steps."""
    monkeypatch.setattr(observer, "CHANGES_INTERVAL_S", 1.0)
    async with forwarding(say_list_changed) as (_, stage):
        await stage.call("tools_add")
        await stage.observer.settled()
        await stage.call("tools_add")

        await until(lambda: len(stage.gate.observations) > 1)


async def test_a_change_that_can_t_be_observed_at_once_is_by_every_process_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(observer, "CHANGES_INTERVAL_S", 0.1)
    monkeypatch.setattr(observer, "RETRY_S", 0.1)
    failures = 0

    async def fail_once(request: web.Request, body: Any) -> web.StreamResponse:
        nonlocal failures
        if body["method"] == "tools/list" and failures == 0:
            failures += 1
            return web.Response(status=503)
        return await say_list_changed(request, body)

    async with forwarding(fail_once) as (_, stage):
        await stage.call("tools_add")

        await until(lambda: len(stage.gate.observations) == 1)

    assert failures == 1


async def test_a_change_told_during_an_observation_is_observed_after_it() -> None:
    listing, listed = asyncio.Event(), asyncio.Event()

    async def list_slowly(request: web.Request, body: Any) -> web.StreamResponse:
        response = await say_list_changed(request, body)
        if body["method"] == "tools/list":
            listing.set()
            await listed.wait()
        return response

    async with forwarding(list_slowly) as (_, stage):
        await stage.observer.step()
        await asyncio.wait_for(listing.wait(), TIMEOUT_S)

        await stage.call("tools_add")
        listed.set()

        await until(lambda: len(stage.gate.observations) > 1)


async def test_no_observation_begins_when_the_gateway_has_ended() -> None:
    listing = asyncio.Event()

    async def never_list(request: web.Request, body: Any) -> web.StreamResponse:
        if body["method"] == "tools/list":
            listing.set()
            await asyncio.Event().wait()
        return await say_list_changed(request, body)

    async with plain_upstream(never_list) as upstream:
        async with opened() as stage:
            stage.gate.connect(upstream.url, "add")
            await stage.observer.step()
            await asyncio.wait_for(listing.wait(), TIMEOUT_S)
            await stage.call("tools_add")

        running = [each.get_name() for each in asyncio.all_tasks()]
    assert "observe tools" not in running


async def test_nothing_is_observed_of_a_server_that_fails() -> None:
    async def fail(_request: web.Request, _body: Any) -> web.StreamResponse:
        return web.Response(status=500)

    upstream: PlainUpstream
    async with plain_upstream(fail) as upstream, opened() as stage:
        stage.gate.connect(upstream.url)
        stage.gate.connect("http://127.0.0.1:1/mcp")

        assert await observed(stage) == []
        # Not again before a while has passed.
        await observed(stage)

    assert len(upstream.requests) == 1


async def test_only_a_list_that_can_be_shown_is_observed() -> None:
    schema: Any = {"type": "object"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}}

    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        tools = [{"name": "deep", "inputSchema": schema}]
        result = {"resultType": "complete", "tools": tools}
        return answered(body, result)

    async with plain_upstream(answer) as upstream, opened() as stage:
        stage.gate.connect(upstream.url)

        assert await observed(stage) == []
        await observed(stage)

    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    ("ttl_ms", "wait_s"),
    [
        (0, 60),
        (120_000, 120),
        (10**9, 3600),
        (-1, 900),
        ("1", 900),
        (True, 900),
        (None, 900),
    ],
)
async def test_an_upstream_says_when_it_is_observed_again(
    monkeypatch: pytest.MonkeyPatch, ttl_ms: object, wait_s: float
) -> None:
    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        return answered(body, {"tools": [], "ttlMs": ttl_ms})

    async with plain_upstream(answer) as upstream, opened() as stage:
        clock = Clock()
        monkeypatch.setattr(observer, "time", clock)
        stage.gate.connect(upstream.url)
        await observed(stage)

        clock.now += wait_s - 1
        assert len(await observed(stage)) == 1
        clock.now += 2
        assert len(await observed(stage)) == 2


class Clock:
    """Stands for the module ``time`` of the observer."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now
