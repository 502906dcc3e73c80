"""Many commands in one commit, each for itself."""

import asyncio
from uuid import UUID, uuid4

import psycopg
import pytest

from service.errors import NotFoundError
from service.event_log import command_queue
from service.event_log.append import (
    Append,
    Appended,
    VersionConflictError,
)
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from tests.support.event_log.ledger import Ledger, Stranger
from tests.support.event_log.logs import (
    AT,
    METADATA,
    decided,
    enter,
    entering,
    entries,
    new_ledger,
    open_ledger,
    run,
)
from tests.support.reading import read_events


async def test_positions_are_dense_and_answers_name_them(log: EventLog) -> None:
    appended = await asyncio.gather(*(log.append(new_ledger(log)) for _ in range(300)))

    assert [each.position for each in appended] == list(range(1, 301))
    recorded = await read_events(log, after=0, upto=300, limit=1000)
    assert [each.recorded_at for each in recorded] == [
        each.recorded_at for each in appended
    ]


def position(outcome: Appended | BaseException) -> int:
    assert isinstance(outcome, Appended)
    assert outcome.position is not None
    return outcome.position


async def test_a_conflict_harms_no_neighbour(log: EventLog) -> None:
    ledger_id = await open_ledger(log, "busy")
    stale = await decided(log, entering(ledger_id, "too late"))
    await enter(log, ledger_id, "first")

    before, conflict, after = await asyncio.gather(
        log.append(new_ledger(log)),
        log.append(stale),
        log.append(new_ledger(log)),
        return_exceptions=True,
    )

    assert isinstance(conflict, VersionConflictError)
    assert (position(before), position(after)) == (3, 4)
    assert await entries(log, ledger_id) == ["first"]


async def test_all_commands_that_share_a_moved_fact_are_refused_and_no_other(
    log: EventLog,
) -> None:
    moving, standing = await open_ledger(log, "moves"), await open_ledger(log, "stands")

    async def reading(fact_id: UUID, name: str) -> Append:
        async def decide(work: UnitOfWork) -> None:
            await work.load(Ledger, fact_id)
            work.save(Ledger(name=name))

        return await decided(log, decide)

    stale = [await reading(moving, f"stale {number}") for number in range(2)]
    await enter(log, moving, "moved")
    # The batch has one fact in its earlier and in its current version.
    current = [await reading(moving, "current"), await reading(standing, "other")]

    outcomes = await asyncio.gather(
        log.append(stale[0]),
        log.append(current[0]),
        log.append(stale[1]),
        log.append(current[1]),
        return_exceptions=True,
    )

    refused = [isinstance(outcome, VersionConflictError) for outcome in outcomes]
    assert refused == [True, False, True, False]
    assert [position(outcomes[1]), position(outcomes[3])] == [4, 5]
    assert (await log.head()).position == 5
    # The head counts on from what was appended.
    assert position(await log.append(new_ledger(log))) == 6


async def test_what_was_found_missing_must_still_be_missing(log: EventLog) -> None:
    written_id = await open_ledger(log, "written")

    async def decide(work: UnitOfWork) -> None:
        assert await work.find(Ledger, Ledger.create_id("name")) is None
        ledger = await work.load(Ledger, written_id)
        ledger.enter(note="the name is free")
        work.save(ledger)

    append = await decided(log, decide)
    await open_ledger(log, "name")

    with pytest.raises(VersionConflictError):
        await log.append(append)


async def test_the_second_of_two_equal_births_in_one_batch_is_refused(
    log: EventLog,
) -> None:
    first, second = await asyncio.gather(
        log.append(new_ledger(log, "one name")),
        log.append(new_ledger(log, "one name")),
        return_exceptions=True,
    )

    assert isinstance(first, Appended)
    assert isinstance(second, VersionConflictError)


async def test_sixty_four_clients_of_one_aggregate_all_succeed(log: EventLog) -> None:
    ledger_id = await open_ledger(log, "hot")

    async def client(number: int) -> None:
        for turn in range(5):
            await enter(log, ledger_id, f"{number}/{turn}")

    await asyncio.gather(*(client(number) for number in range(64)))

    found = await entries(log, ledger_id)
    assert len(found) == len(set(found)) == 320
    for number in range(64):
        own = [note for note in found if note.startswith(f"{number}/")]
        assert own == [f"{number}/{turn}" for turn in range(5)]


async def test_commands_that_share_a_fact_are_decided_again_when_it_moves(
    log: EventLog,
) -> None:
    fact_id = await open_ledger(log, "fact")

    async def decide_on_fact(work: UnitOfWork) -> int:
        fact = await work.load(Ledger, fact_id)
        work.save(Ledger(name=uuid4().hex))
        return fact.version

    await asyncio.gather(
        *(run(log, decide_on_fact) for _ in range(50)),
        *(enter(log, fact_id, f"{n}") for n in range(10)),
    )

    assert (await log.head()).position == 1 + 50 + 10


async def test_a_command_that_cant_be_stored_fails_alone(log: EventLog) -> None:
    good = [new_ledger(log) for _ in range(40)]
    bad = new_ledger(log)
    bad = Append(
        command_id=bad.command_id,
        history=bad.history,
        metadata="not json",
        reads=bad.reads,
        events=bad.events,
    )

    outcomes = await asyncio.gather(
        *(log.append(each) for each in [*good[:17], bad, *good[17:]]),
        return_exceptions=True,
    )

    assert isinstance(outcomes.pop(17), psycopg.DataError)
    assert sorted(position(each) for each in outcomes) == list(range(1, 41))


@pytest.mark.parametrize("metadata", ['{"a":"\x00"}', "\ud800", '{"open":'])
async def test_a_command_that_cant_even_be_sent_fails_alone(
    log: EventLog, metadata: str
) -> None:
    fine, bad = new_ledger(log), new_ledger(log)
    bad = Append(
        command_id=bad.command_id,
        history=bad.history,
        metadata=metadata,
        reads=bad.reads,
        events=bad.events,
    )

    outcomes = await asyncio.gather(
        log.append(fine), log.append(bad), return_exceptions=True
    )

    assert position(outcomes[0]) == 1
    assert isinstance(outcomes[1], psycopg.DataError | UnicodeEncodeError)
    assert (await log.append(new_ledger(log))).position == 2


async def test_a_command_larger_than_a_batch_goes_alone(log: EventLog) -> None:
    ledger_id = await open_ledger(log, "large")
    note = "x" * (command_queue.BATCH_BYTES_MAX + 1)

    await asyncio.gather(
        enter(log, ledger_id, note), *(log.append(new_ledger(log)) for _ in range(5))
    )

    assert await entries(log, ledger_id) == [note]
    assert (await log.head()).position == 7


async def test_a_command_of_thousands_of_events_is_one_step(log: EventLog) -> None:
    ledger_id = await open_ledger(log, "long")

    _, appended = await run(log, entering(ledger_id, *map(str, range(5000))))

    assert appended is not None
    assert appended.position == 5001
    recorded = await read_events(log, after=1, upto=5001, limit=10_000)
    assert {each.recorded_at for each in recorded} == {appended.recorded_at}


async def test_an_event_of_an_unknown_type_never_reaches_the_log(
    log: EventLog,
) -> None:
    work = UnitOfWork(log, metadata=METADATA, at=AT)

    with pytest.raises(Exception, match="belongs to no known aggregate"):
        work.save(Stranger())


async def test_an_aggregate_changed_after_it_was_saved_is_refused(
    log: EventLog,
) -> None:
    """In the cache it would be ahead of the log for good."""

    async def decide(work: UnitOfWork) -> None:
        ledger = Ledger(name="careless")
        work.save(ledger)
        ledger.enter(note="never saved")

    with pytest.raises(RuntimeError, match="changed after it was saved"):
        await run(log, decide)


async def test_a_refusal_leaves_no_trace(log: EventLog) -> None:
    async def decide(work: UnitOfWork) -> None:
        work.save(Ledger(name="half"))
        await work.load(Ledger, uuid4())

    with pytest.raises(NotFoundError):
        await run(log, decide)

    assert (await log.head()).position == 0
