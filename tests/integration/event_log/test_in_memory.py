"""The log in memory and the one over PostgreSQL behave the same."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from service.aggregates import AGGREGATES
from service.errors import NotFoundError
from service.event_log.absences import RememberedAbsences
from service.event_log.append import (
    AlreadyAnsweredError,
    Receipt,
    SealedValue,
    VersionConflictError,
)
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from tests.support.event_log.in_memory import AnyLog, InMemoryLog
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import (
    decided,
    enter,
    entering,
    entries,
    new_ledger,
    nothing,
    open_ledger,
    run,
)
from tests.support.reading import read_events

pytestmark = pytest.mark.usefixtures("postgres")

RECEIPT = Receipt(key=b"key", request=b"request", answer=b"answer")


@pytest.fixture(params=["in memory", "PostgreSQL"])
def any_log(request: pytest.FixtureRequest) -> AnyLog:
    if request.param == "in memory":
        return InMemoryLog([*AGGREGATES, Ledger])
    log: EventLog = request.getfixturevalue("log")
    return log


async def sealed_ids(log: AnyLog) -> set[UUID]:
    if isinstance(log, InMemoryLog):
        return set(log.sealed)
    async with log._pool.connection() as db:  # noqa: SLF001 # its connections
        cursor = await db.execute("SELECT sealed_id FROM events.sealed_value")
        return {sealed_id for (sealed_id,) in await cursor.fetchall()}


async def position(log: AnyLog) -> int:
    return (await log.head()).position


async def test_positions_are_dense_and_a_command_answers_its_last(
    any_log: AnyLog,
) -> None:
    first = await any_log.append(new_ledger(any_log, "one"))
    ledger_id = Ledger.create_id("one")
    _, second = await run(any_log, entering(ledger_id, "a", "b"))

    assert second is not None
    assert (first.position, second.position) == (1, 3)
    recorded = await read_events(any_log, after=0, upto=9, limit=9)
    assert [each.position for each in recorded] == [1, 2, 3]
    assert [each.version for each in recorded] == [1, 2, 3]
    assert {each.metadata["actor"] for each in recorded} == {"test"}
    assert recorded[1].command_id == recorded[2].command_id != recorded[0].command_id
    times = [each.recorded_at for each in recorded]
    assert times[0] < times[1] == times[2]
    assert [first.recorded_at, second.recorded_at] == times[:2]


async def test_a_range_of_the_log_is_read(any_log: AnyLog) -> None:
    for name in "abcde":
        await open_ledger(any_log, name)

    recorded = await read_events(any_log, after=1, upto=4, limit=2)

    assert [each.event.name for each in recorded] == ["b", "c"]
    assert len(await read_events(any_log, after=1, upto=4, limit=9)) == 3
    assert (await any_log.head()).position == 5


async def test_an_aggregate_is_loaded_as_committed(any_log: AnyLog) -> None:
    ledger_id = await open_ledger(any_log, "loaded")
    await enter(any_log, ledger_id, "a")

    async def fail(work: UnitOfWork) -> None:
        (await work.load(Ledger, ledger_id)).enter(note="never saved")
        raise NotFoundError("refused")

    with pytest.raises(NotFoundError):
        await run(any_log, fail)

    loaded = await any_log.load(ledger_id)
    assert isinstance(loaded, Ledger)
    assert (loaded.entries, loaded.version) == (["a"], 2)
    assert await any_log.load(uuid4()) is None


async def test_what_was_read_and_has_moved_refuses_the_command(any_log: AnyLog) -> None:
    ledger_id = await open_ledger(any_log, "moved")
    written = await decided(any_log, entering(ledger_id, "late"))
    only_read = replace(new_ledger(any_log), reads={ledger_id: 1})
    await enter(any_log, ledger_id, "first")

    for stale in (written, only_read, replace(only_read, reads={uuid4(): 1})):
        with pytest.raises(VersionConflictError):
            await any_log.append(stale)

    assert await any_log.moved({ledger_id: 1, Ledger.create_id("none"): 0}) == [
        ledger_id
    ]
    assert await any_log.moved({ledger_id: 2}) == []
    assert await entries(any_log, ledger_id) == ["first"]


async def test_what_was_absent_and_exists_refuses_the_command(any_log: AnyLog) -> None:
    early, late = new_ledger(any_log, "same"), new_ledger(any_log, "same")
    await any_log.append(early)

    with pytest.raises(VersionConflictError):
        await any_log.append(late)

    assert await position(any_log) == 1


async def test_a_command_of_another_epoch_is_refused(any_log: AnyLog) -> None:
    other = any_log.history._replace(epoch=uuid4())
    with pytest.raises(VersionConflictError):
        await any_log.append(replace(new_ledger(any_log), history=other))

    assert await position(any_log) == 0
    assert (await any_log.head()).epoch == any_log.epoch


async def test_a_used_key_gives_the_kept_answer(any_log: AnyLog) -> None:
    await open_ledger(any_log, "before")
    await any_log.append(replace(new_ledger(any_log, "kept"), receipt=RECEIPT))
    stale = replace(new_ledger(any_log, "kept"), receipt=RECEIPT)

    with pytest.raises(AlreadyAnsweredError) as repeated:
        await any_log.append(stale)

    kept = repeated.value.receipt
    assert (kept.request, kept.answer, kept.position) == (b"request", b"answer", 2)
    assert await any_log.receipt(b"key") == replace(RECEIPT, position=2)
    assert await any_log.receipt(b"another") is None
    assert await position(any_log) == 2


async def test_a_refused_command_leaves_no_answer_or_sealed_value(
    any_log: AnyLog,
) -> None:
    value = SealedValue(sealed_id=uuid4(), owner_id=uuid4(), sealed=b"sealed")
    made = replace(new_ledger(any_log, "sealed"), sealed=[value])
    await any_log.append(made)
    other = replace(value, sealed_id=uuid4())

    with pytest.raises(VersionConflictError):
        await any_log.append(
            replace(new_ledger(any_log, "sealed"), sealed=[other], receipt=RECEIPT)
        )

    assert await sealed_ids(any_log) == {value.sealed_id}
    assert await any_log.receipt(b"key") is None


async def test_an_answer_is_kept_without_events(any_log: AnyLog) -> None:
    _, appended = await run(any_log, nothing, receipt=lambda _: RECEIPT)

    assert appended is not None
    assert appended.position is None
    assert await any_log.receipt(b"key") == RECEIPT
    assert await run(any_log, nothing) == ("nothing", None)


async def test_commands_that_compete_are_all_applied(any_log: AnyLog) -> None:
    ledger_id = await open_ledger(any_log, "contended")
    notes = [str(number) for number in range(20)]

    versions = await asyncio.gather(
        *(enter(any_log, ledger_id, note) for note in notes)
    )

    assert sorted(versions) == list(range(2, 22))
    assert sorted(await entries(any_log, ledger_id)) == sorted(notes)
    assert not any_log.is_contended(ledger_id)


async def test_a_refusal_counts_only_on_facts_that_still_stand(any_log: AnyLog) -> None:
    ledger_id = Ledger.create_id("appears")
    attempts = 0

    async def decide(work: UnitOfWork) -> str:
        nonlocal attempts
        attempts += 1
        found = await work.find(Ledger, ledger_id)
        if attempts == 1:
            await open_ledger(any_log, "appears")
        if found is None:
            raise NotFoundError("no such ledger")
        return found.name

    assert await run(any_log, decide) == ("appears", None)
    assert attempts == 2


@pytest.mark.parametrize("is_refused", [True, False])
async def test_an_aggregate_that_was_absent_for_an_earlier_command_is_found(
    any_log: AnyLog, *, is_refused: bool
) -> None:
    ledger_id = Ledger.create_id("appears")
    remembering = RememberedAbsences(any_log)

    async def look(work: UnitOfWork) -> bool:
        return await work.find(Ledger, ledger_id) is not None

    async def decide(work: UnitOfWork) -> bool:
        is_known = await look(work)
        if is_refused and not is_known:
            raise NotFoundError("no such ledger")
        work.save(Ledger(name="other"))
        return is_known

    assert await run(remembering, look) == (False, None)
    assert remembering.absent == {ledger_id}
    await open_ledger(any_log, "appears")

    is_known, _ = await run(remembering, decide)

    assert is_known
    assert remembering.absent == set()


async def test_a_command_sees_an_aggregate_as_first_read(any_log: AnyLog) -> None:
    ledger_id = Ledger.create_id("appears")
    seen: list[bool] = []

    async def decide(work: UnitOfWork) -> None:
        seen.append(await work.find(Ledger, ledger_id) is not None)
        if len(seen) == 1:
            await open_ledger(any_log, "appears")
        seen.append(await work.find(Ledger, ledger_id) is not None)
        work.save(Ledger(name=f"after {len(seen)}"))

    await run(any_log, decide)

    assert seen == [False, False, True, True]
    assert await any_log.load(Ledger.create_id("after 2")) is None


async def test_a_command_loads_an_absent_aggregate_once(
    any_log: AnyLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[UUID] = []
    load = any_log.load

    async def count(aggregate_id: UUID) -> Any:
        loaded.append(aggregate_id)
        return await load(aggregate_id)

    monkeypatch.setattr(any_log, "load", count)
    ledger_id = Ledger.create_id("absent")

    async def decide(work: UnitOfWork) -> None:
        assert await work.find(Ledger, ledger_id) is None
        assert await work.find(Ledger, ledger_id) is None
        ledger = Ledger(name="absent")
        work.save(ledger)
        assert await work.find(Ledger, ledger_id) is ledger

    await run(any_log, decide)

    assert loaded == [ledger_id]


async def test_a_lock_is_held_by_one_at_a_time(any_log: AnyLog) -> None:
    ledger_id = uuid4()
    order: list[str] = []

    async def second() -> None:
        async with any_log.lock(ledger_id):
            order.append("second")

    async with any_log.lock(ledger_id):
        waiting = asyncio.create_task(second())
        await asyncio.sleep(0)
        assert any_log.is_contended(ledger_id)
        order.append("first")
    await waiting

    assert order == ["first", "second"]
    assert not any_log.is_contended(ledger_id)
