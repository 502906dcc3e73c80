"""Lists in pages, by cursor and by offset."""

from datetime import UTC, datetime, timedelta

from agent_runtime_client import AsyncAgentRuntime

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


async def test_items_come_across_pages(runtime: AsyncAgentRuntime) -> None:
    made = {(await runtime.agents.create(f"agent-{n}")).id for n in range(7)}

    listed = [agent.id async for agent in runtime.agents.list(limit=3)]
    sizes = [len(page.agents) async for page in runtime.agents.list(limit=3).pages()]

    assert len(listed) == len(made)
    assert set(listed) == made
    assert sizes == [3, 3, 1]


async def test_a_break_asks_for_no_more(runtime: AsyncAgentRuntime) -> None:
    for number in range(3):
        await runtime.agents.create(f"agent-{number}")
    asked = 0

    async def count(_request: object) -> None:
        nonlocal asked
        asked += 1

    runtime._caller.http.event_hooks["request"] = [count]
    async for _ in runtime.agents.list(limit=1):
        break

    assert asked == 1


async def test_sessions_and_usage(runtime: AsyncAgentRuntime) -> None:
    agent = await runtime.agents.create("support")
    for number in range(5):
        session = await runtime.sessions.start(
            agent.id, session_id=f"s-{number}", started_at=START
        )
        await runtime.sessions.record_turn(
            session.session_id,
            turn_id="t-1",
            started_at=START,
            ended_at=START + timedelta(seconds=1),
            model=f"m-{number}",
            prompt_tokens=10,
        )

    found = runtime.sessions.list(
        start_time=START - timedelta(hours=1),
        end_time=START + timedelta(hours=1),
        limit=2,
    )
    names = [session.session_id async for session in found]
    sums = runtime.usage.list(
        from_day=START.date(),
        until_day=START.date(),
        group_by=["model", "provider"],
        limit=2,
    )

    assert sorted(names) == [f"s-{number}" for number in range(5)]
    assert sorted([str(each.model) async for each in sums]) == [
        f"m-{number}" for number in range(5)
    ]


async def test_lists_within_a_resource(runtime: AsyncAgentRuntime) -> None:
    agent = await runtime.agents.create("support")
    session = await runtime.sessions.start(agent.id, started_at=START)
    for number in range(5):
        await runtime.sessions.record_turn(
            session.session_id,
            turn_id=f"t-{number}",
            started_at=START + timedelta(seconds=number),
            ended_at=START + timedelta(seconds=number + 1),
        )
    await runtime.secrets.create("KEY", "0")
    for number in range(1, 5):
        await runtime.secrets.set("KEY", str(number))

    turns = runtime.sessions.list_turns(session.session_id, limit=2)
    versions = runtime.secrets.list_versions("KEY", limit=2)

    assert [each.turn_id async for each in turns] == [f"t-{n}" for n in range(5)]
    assert [each.version async for each in versions] == [5, 4, 3, 2, 1]
