"""Reads of history take turns, and those beyond a bound are refused at once."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID, uuid4

import pytest

from projections.engine import snapshot
from service.errors import TooManyRequestsError
from service.http.replays import AT_ONCE_MAX, OF_USER_MAX, REPLAYS, Replays
from tests.support.callers import Caller, Callers
from tests.support.tool_rules.setting import Setting, put, rule
from tests.support.waiting import until

ADA, BOB = (UUID(int=number) for number in (1, 2))


async def test_a_turn_waits_for_those_before() -> None:
    turns, done = Replays(), list[int]()

    async def reading(number: int) -> None:
        async with turns.turn(ADA):
            done.append(number)

    async with AsyncExitStack() as others:
        for _ in range(AT_ONCE_MAX):
            await others.enter_async_context(turns.turn(BOB))
        waiting = [asyncio.create_task(reading(number)) for number in range(3)]
        await asyncio.wait(waiting, timeout=0)
        assert done == []

    await asyncio.gather(*waiting)
    assert done == [0, 1, 2]


async def test_one_callers_turns_are_bounded_and_others_go_on() -> None:
    turns = Replays()
    async with AsyncExitStack() as stack:
        for _ in range(AT_ONCE_MAX):
            await stack.enter_async_context(turns.turn(ADA))
        waiting = [
            asyncio.create_task(stack.enter_async_context(turns.turn(ADA)))
            for _ in range(OF_USER_MAX - AT_ONCE_MAX)
        ]
        await asyncio.wait(waiting, timeout=0)

        with pytest.raises(TooManyRequestsError, match="16 reads of history") as why:
            async with turns.turn(ADA):
                pass
        of_bob = asyncio.create_task(stack.enter_async_context(turns.turn(BOB)))
        await asyncio.wait([of_bob], timeout=0)

        assert why.value.code == "too_many_replays"
        assert not of_bob.done()
        for each in (*waiting, of_bob):
            each.cancel()
        await asyncio.gather(*waiting, of_bob, return_exceptions=True)

    # Whoever gave up holds nothing.
    async with turns.turn(ADA), turns.turn(BOB):
        pass


async def test_reads_of_history_are_refused_while_others_take_too_long(
    callers: Callers, setting: Setting
) -> None:
    root = await callers.user("root", "superuser")
    agent = await setting.agent(root)
    connector = await setting.connector(root, granted_to=[agent])
    written = await put(root, agent, rule(connector, "a", "allow"))
    at = f"at={written.position}"
    rules = f"/api/mcp/agents/{agent}/tools"
    paths = [
        f"{rules}?{at}",
        f"{rules}/explain?connector_id={connector}&tool=a",
        f"/api/mcp/connectors/{connector}?{at}",
        f"/api/mcp/calls/{uuid4()}",
        f"/api/audit/events/{written.position}",
        f"/api/audit/aggregates/{agent}",
        f"/api/audit/aggregates/{agent}/difference?since=0",
        f"/api/audit/agents/{agent}/decisions/difference?since=0",
        f"/api/audit/connectors/{connector}/exposure?since=0",
    ]
    app = root.client.app
    assert app is not None
    turns = app[REPLAYS]
    async with AsyncExitStack() as others:
        for _ in range(AT_ONCE_MAX):
            await others.enter_async_context(turns.turn(BOB))

        refused = await asyncio.gather(
            *(root.get(each) for each in paths),
            root.post(f"{rules}/restore", {"at": written.position}),
        )
        answered = [await root.get(rules), await root.get("/api/mcp/connectors")]

    assert {(each.status, each.code) for each in refused} == {(429, "too_many_replays")}
    assert {each.headers["Retry-After"] for each in refused} == {"1"}
    assert [each.status for each in answered] == [200, 200]
    assert await until(lambda: _answers(root, paths[1]))


async def _answers(caller: Caller, path: str) -> bool:
    return (await caller.get(path)).status == 200


async def test_whoever_waits_for_the_read_tables_leaves_the_turn_to_others(
    callers: Callers, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, has_applied = list[int](), asyncio.Event()

    async def wait(_server: Any, _followers: Any, position: int, **_: Any) -> None:
        waiting.append(position)
        await has_applied.wait()

    root = await callers.user("root", "superuser")
    agent = await setting.agent(root)
    connector = await setting.connector(root, granted_to=[agent])
    await put(root, agent, rule(connector, "a", "allow"))
    explained = f"/api/mcp/agents/{agent}/tools/explain?connector_id={connector}&tool=a"
    monkeypatch.setattr(snapshot, "wait_for_position", wait)
    explaining = [
        asyncio.create_task(root.get(explained)) for _ in range(AT_ONCE_MAX + 1)
    ]
    await until(lambda: len(waiting) == len(explaining))

    entry = await root.get("/api/audit/events/1")

    assert entry.status == 200
    assert not any(each.done() for each in explaining)
    monkeypatch.undo()
    has_applied.set()
    assert {(await each).status for each in explaining} == {200}
