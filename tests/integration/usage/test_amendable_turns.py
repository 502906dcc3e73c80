"""What turns made from spans have added is kept for as long as they can be amended."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from projections.usage import table
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.resources import Resources
from service.sessions.aggregate import ChatSession
from service.sessions.cost import NO_CHARGE
from service.sessions.late_spans import AMENDED_FOR
from service.sessions.turn import SealedTexts, Texts, TokenCounts, Turn
from tests.integration.usage.reading import usage
from tests.support.callers import Caller
from tests.support.rebuilding import expect_rebuild_equals_live, tables
from tests.support.sessions.otlp.spans import NOON, Exported, llm, report, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder

MARCH = "from_day=2026-03-01&until_day=2026-03-31&group_by=model"
TRACE_ID = (1).to_bytes(16).hex()


def pass_time(database_url: str, by: timedelta) -> None:
    """Let the log's time pass, without any event."""
    with psycopg.connect(database_url) as db:
        db.execute("UPDATE events.head SET recorded_at = recorded_at + %s", [by])


async def add_turn(recorder: Recorder, trace: int) -> Exported:
    spans = span(1, trace=trace, session__id="chat"), llm(2, 1, 5, 1, trace=trace)
    return await report(recorder, *spans)


async def kept(resources: Resources) -> int:
    return len((await tables(resources, "usage"))["usage_of_amendable_turn"])


async def amend_as_before(resources: Resources, *, prompt: int) -> None:
    """Amend the turn of trace 1 as earlier versions did, whenever spans came."""

    async def decide(work: UnitOfWork) -> None:
        session = await work.load(ChatSession, ChatSession.create_id("chat"))
        turn = Turn(
            turn_id=TRACE_ID,
            started_at=NOON,
            ended_at=NOON,
            provider="acme",
            model="swift",
            tokens=TokenCounts(prompt=prompt, completion=0),
            texts=Texts(),
            spans=9,
        )
        assert session.record_turn(turn, SealedTexts(), NO_CHARGE)
        work.save(session)

    metadata = {"actor": str(UUID(int=0))}
    await execute(resources.log, decide, metadata=metadata, at=datetime.now(UTC))


async def used(resources: Resources, ada: Caller) -> list[Any]:
    """Return (model, turns, prompt tokens) of each model."""
    head = await resources.log.head()
    reply = await ada.get(f"/api/usage?{MARCH}", X_Min_Position=str(head.position))
    return [
        (row["model"], row["turns"], row["token_usage"]["prompt"])
        for row in reply.data["usage"]
    ]


async def test_turns_that_can_t_be_amended_any_more_are_deleted(
    resources: Resources, recorder: Recorder, ada: Caller, database_url: str
) -> None:
    for trace in (1, 2):
        await add_turn(recorder, trace)
    pass_time(database_url, AMENDED_FOR / 2)
    await add_turn(recorder, 3)
    assert await kept(resources) == 3
    pass_time(database_url, AMENDED_FOR / 2)

    last = await add_turn(recorder, 4)

    assert await kept(resources) == 2
    assert [row["turns"] for row in (await usage(last, ada, MARCH))["usage"]] == [4]
    await expect_rebuild_equals_live(resources, "usage")


async def test_an_amended_turn_is_kept_for_as_long_again(
    resources: Resources, recorder: Recorder, database_url: str
) -> None:
    await add_turn(recorder, 1)
    pass_time(database_url, AMENDED_FOR / 2)
    await report(recorder, llm(3, 1, 7, 1))
    pass_time(database_url, AMENDED_FOR / 2)

    await add_turn(recorder, 2)

    assert await kept(resources) == 2
    await expect_rebuild_equals_live(resources, "usage")


async def test_a_batch_deletes_only_so_many(
    resources: Resources,
    recorder: Recorder,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table, "DELETED_MAX", 2)
    for trace in range(1, 6):
        await add_turn(recorder, trace)
    assert await kept(resources) == 5
    pass_time(database_url, AMENDED_FOR)

    left = []
    for trace in range(6, 9):
        await add_turn(recorder, trace)
        left.append(await kept(resources))

    assert left == [5 + 1 - 2, 5 + 2 - 4, 3]


async def test_a_turn_that_an_earlier_version_amended_late_counts_once(
    resources: Resources, recorder: Recorder, ada: Caller, database_url: str
) -> None:
    await add_turn(recorder, 1)
    # It names the turn, but is another one.
    await recorder.turn(
        "chat",
        {
            "turn_id": "t2",
            "trace_id": TRACE_ID,
            "started_at": "2026-03-01T12:00:00Z",
            "ended_at": "2026-03-01T12:00:01Z",
        },
    )
    pass_time(database_url, AMENDED_FOR)
    await add_turn(recorder, 3)
    assert await kept(resources) == 1

    await amend_as_before(resources, prompt=100)

    assert await used(resources, ada) == [("swift", 2, 105), (None, 1, None)]
    await expect_rebuild_equals_live(resources, "usage")


@pytest.mark.parametrize("passed", [timedelta(0), AMENDED_FOR])
async def test_a_turn_that_was_repriced_and_then_amended_counts_once(
    resources: Resources,
    recorder: Recorder,
    root: Caller,
    ada: Caller,
    database_url: str,
    passed: timedelta,
) -> None:
    await add_turn(recorder, 1)
    pass_time(database_url, passed)
    last = await add_turn(recorder, 2)
    rows = await kept(resources)
    await set_price(root, "swift", 1)
    repriced = await root.post(
        "/api/llm-router/reprice",
        {
            "from_time": "2026-03-01T00:00:00Z",
            "until_time": "2026-03-02T00:00:00Z",
            "dry_run": False,
        },
        X_Min_Position=last.position,
    )
    assert (repriced.data["turns_changed"], await kept(resources)) == (2, rows)

    await amend_as_before(resources, prompt=100)

    assert await used(resources, ada) == [("swift", 2, 105)]
    await expect_rebuild_equals_live(resources, "usage")
