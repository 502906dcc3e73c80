"""Reads of history take turns, and those beyond a bound are refused at once."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID, uuid4

import pytest

from projections.engine import snapshot
from service.errors import TooManyRequestsError
from service.http.replays import (
    AT_ONCE_MAX,
    OF_USER_MAX,
    REPLAYS,
    Replays,
)
from tests.support.callers import Caller, Callers
from tests.support.tool_rules.setting import Setting, put, rule
from tests.support.waiting import until

ADA, BOB, EVE = (UUID(int=number) for number in range(1, 4))


async def taken(turns: Replays, stack: AsyncExitStack, *users: UUID) -> None:
    for each in users:
        await stack.enter_async_context(turns.turn(each))


def waiting(
    turns: Replays, stack: AsyncExitStack, *users: UUID
) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(taken(turns, stack, each)) for each in users]


async def test_a_turn_waits_for_those_before() -> None:
    turns, done = Replays(), list[int]()

    async def reading(number: int) -> None:
        async with turns.turn(EVE):
            done.append(number)

    async with AsyncExitStack() as others:
        await taken(turns, others, ADA, ADA, BOB)
        tasks = [asyncio.create_task(reading(number)) for number in range(3)]
        await asyncio.wait(tasks, timeout=0)
        assert done == []

    await asyncio.gather(*tasks)
    assert done == [0, 1, 2]


async def test_one_caller_leaves_a_turn_to_others() -> None:
    turns = Replays()
    async with AsyncExitStack() as stack:
        await taken(turns, stack, ADA, ADA)
        own = waiting(turns, stack, *[ADA] * (OF_USER_MAX - 2))
        await asyncio.wait(own, timeout=0)
        assert not any(each.done() for each in own)

        async with turns.turn(BOB):
            pass
        with pytest.raises(TooManyRequestsError, match="64 reads of history") as why:
            async with turns.turn(ADA):
                pass

        assert why.value.code == "too_many_replays"
        for each in own:
            each.cancel()
        await asyncio.gather(*own, return_exceptions=True)
    await nothing_is_held(turns)


async def test_whoever_gives_up_holds_nothing() -> None:
    turns = Replays()
    async with AsyncExitStack() as stack:
        await taken(turns, stack, ADA, ADA, BOB)
        # For a turn of their own, or of all.
        tasks = waiting(turns, stack, ADA, BOB, EVE)
        await asyncio.wait(tasks, timeout=0)

        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    await nothing_is_held(turns)


async def nothing_is_held(turns: Replays) -> None:
    async with AsyncExitStack() as stack:
        await taken(turns, stack, ADA, ADA, BOB)


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
        await taken(turns, others, ADA, ADA, BOB)

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
