"""Commands decided on what others are about to write, and what becomes of both."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
)
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from service.errors import ConflictError, PreconditionFailedError, UnavailableError
from service.event_log import pending, writer
from service.event_log.append import (
    AlreadyAnsweredError,
    Append,
    Appended,
    OutcomeUnknownError,
    OverloadedError,
    Receipt,
    VersionConflictError,
)
from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.event_log.writer import Timeouts
from service.principal import Principal
from tests.support.callers import Callers
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import (
    AT,
    METADATA,
    answered,
    decided,
    enter,
    entering,
    entries,
    expect_sound,
    new_ledger,
    nothing,
    open_ledger,
    open_log,
    open_unhurried_log,
    run,
    until_somebody_waits,
)
from tests.support.postgres_proxy import Fault, Proxy
from tests.support.waiting import until


@pytest.fixture
async def log(database_url: str, owner: AsyncConnection) -> AsyncIterator[EventLog]:
    async with open_unhurried_log(database_url) as opened:
        yield opened
    await expect_sound(owner)


async def submit(
    log: EventLog,
    decide: Callable[[UnitOfWork], Awaitable[Any]],
    receipt: Receipt | None = None,
) -> asyncio.Future[Appended]:
    """Decide once on what is pending, and queue the command."""
    work = UnitOfWork(log, metadata=METADATA, at=AT, pending=log.pending)
    await decide(work)
    return log.submit(work.to_append(receipt), work.bases)


async def outcome(submitted: Awaitable[Any]) -> Any:
    return (await asyncio.gather(submitted, return_exceptions=True))[0]


@asynccontextmanager
async def held(log: EventLog, owner: AsyncConnection) -> AsyncIterator[None]:
    """Keep a first command in its commit, so that all others stay in the queue."""
    async with owner.transaction():
        await owner.execute("SELECT FROM events.head FOR UPDATE")
        first = log.submit(new_ledger(log))
        await until_somebody_waits(owner)
        yield
    await outcome(first)


def enter_many(log: EventLog, ledger_id: UUID, count: int) -> list[asyncio.Task[int]]:
    return [
        asyncio.create_task(enter(log, ledger_id, str(number)))
        for number in range(count)
    ]


async def until_pending(log: EventLog, ledger_id: UUID, count: int = 1) -> None:
    """Wait until so many commands that write to a ledger are queued."""
    await until(lambda: len(log.pending.writes.get(ledger_id.int, [])) >= count)


async def commits(owner: AsyncConnection) -> int:
    """Return how many transactions have appended events."""
    cursor = await owner.execute(
        "SELECT count(DISTINCT xmin::text) FROM events.stored_event"
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


def unstorable(append: Append) -> Append:
    return replace(append, metadata="not json")


async def test_commands_on_one_aggregate_share_a_commit(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "hot")
    before = await commits(owner)

    async with held(log, owner):
        entering_all = enter_many(log, ledger_id, 64)
        await until_pending(log, ledger_id, 64)
    versions = await asyncio.gather(*entering_all)

    assert versions == list(range(2, 66))
    assert await entries(log, ledger_id) == [str(number) for number in range(64)]
    # The command that kept the commit busy, and one commit for all others.
    assert await commits(owner) == before + 2
    assert log.pending.writes == {}


async def test_queries_and_callers_dont_see_what_is_pending(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "shown")
    async with held(log, owner):
        submitted = await submit(log, entering(ledger_id, "not yet"))

        loaded = await log.load(ledger_id)
        read = await UnitOfWork(log, metadata=METADATA, at=AT).load(Ledger, ledger_id)

        assert isinstance(loaded, Ledger)
        assert loaded.entries == read.entries == []
    await submitted


async def race(
    log: EventLog, other_log: EventLog, owner: AsyncConnection, queued: str
) -> tuple[UUID, list[Any]]:
    """Let another process write the version that a base and what rests on it expect."""
    ledger_id = await open_ledger(log, "raced")
    base = await decided(log, entering(ledger_id, "refused"))
    await enter(other_log, ledger_id, "theirs")

    async with AsyncExitStack() as stack:
        if queued == "behind it":
            await stack.enter_async_context(owner.transaction())
            await owner.execute("SELECT FROM events.head FOR UPDATE")
        submitted = [log.submit(base)]
        if queued == "behind it":
            await until_somebody_waits(owner)
        submitted.append(await submit(log, entering(ledger_id, "on the refused one")))
        submitted.append(await submit(log, entering(ledger_id, "on that")))
    return ledger_id, await asyncio.gather(*submitted, return_exceptions=True)


QUEUED = ["in one batch", "behind it"]


@pytest.mark.parametrize("queued", QUEUED)
async def test_another_process_has_written_the_same_version(
    log: EventLog, other_log: EventLog, owner: AsyncConnection, queued: str
) -> None:
    """The version alone can't tell whose event it is."""
    ledger_id, outcomes = await race(log, other_log, owner, queued)

    assert all(isinstance(each, VersionConflictError) for each in outcomes)
    assert await entries(log, ledger_id) == ["theirs"]
    assert log.pending.writes == {}


@pytest.mark.parametrize("queued", QUEUED)
async def test_version_checks_alone_would_let_it_pass(
    log: EventLog,
    other_log: EventLog,
    owner: AsyncConnection,
    queued: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bug, put in: commands are sent without what they rest on."""
    monkeypatch.setattr(writer, "bases_by_number", lambda _: {})
    monkeypatch.setattr(pending.PendingCommand, "has_failed_base", False)

    ledger_id, _ = await race(log, other_log, owner, queued)

    assert (await entries(log, ledger_id))[:2] == ["theirs", "on the refused one"]


async def test_all_are_decided_again_when_another_process_was_faster(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "raced")
    async with held(log, owner):
        stale = await decided(log, entering(ledger_id, "stale"))
        refused = log.submit(replace(stale, reads={ledger_id: 7}))
        ours = enter_many(log, ledger_id, 20)
        await until_pending(log, ledger_id, 21)

    assert isinstance(await outcome(refused), VersionConflictError)
    assert sorted(await asyncio.gather(*ours)) == list(range(2, 22))
    assert sorted(await entries(log, ledger_id), key=int) == [
        str(number) for number in range(20)
    ]


async def test_a_command_on_one_whose_key_was_used_is_decided_again(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "keyed")
    await run(other_log, nothing, receipt=answered(b"k"))

    async with held(log, owner):
        first = asyncio.create_task(
            run(log, entering(ledger_id, "repeated"), receipt=answered(b"k"))
        )
        await until_pending(log, ledger_id)
        second = asyncio.create_task(enter(log, ledger_id, "stays"))
        await until_pending(log, ledger_id, 2)

    assert isinstance(await outcome(first), AlreadyAnsweredError)
    assert await second == 2
    assert await entries(log, ledger_id) == ["stays"]


async def test_a_command_on_one_that_cant_be_stored_is_decided_again(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "odd")
    async with held(log, owner):
        others = [log.submit(new_ledger(log)) for _ in range(5)]
        bad = log.submit(unstorable(await decided(log, entering(ledger_id, "bad"))))
        resting = enter_many(log, ledger_id, 9)
        await until_pending(log, ledger_id, 10)

    failed = await outcome(bad)
    assert isinstance(failed, Exception)
    assert not isinstance(failed, VersionConflictError)
    await asyncio.gather(*others)
    assert sorted(await asyncio.gather(*resting)) == list(range(2, 11))
    assert len(await entries(log, ledger_id)) == 9


async def test_what_was_overtaken_in_the_queue_is_decided_again(
    log: EventLog, owner: AsyncConnection
) -> None:
    """It has read what a command before it writes: no version check would find out."""
    ledger_id = await open_ledger(log, "fact")

    async def on_the_fact(work: UnitOfWork) -> None:
        await work.load(Ledger, ledger_id)
        work.save(Ledger(name="made on it"))

    stale = await decided(log, on_the_fact)
    async with held(log, owner):
        moving = await submit(log, entering(ledger_id, "moved"))
        overtaken = log.submit(stale)
        current = await submit(log, on_the_fact)

        assert isinstance(await outcome(overtaken), VersionConflictError)
    assert (await moving).position == 3
    assert (await current).position == 4


async def test_the_client_of_a_base_disconnects(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "left")
    async with held(log, owner):
        leaving = asyncio.create_task(enter(log, ledger_id, "of a client that left"))
        await until_pending(log, ledger_id)
        staying = asyncio.create_task(enter(log, ledger_id, "next"))
        await until_pending(log, ledger_id, 2)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving

    assert await staying == 3
    assert await entries(log, ledger_id) == ["of a client that left", "next"]


async def test_a_refusal_is_answered_when_what_it_rests_on_is_durable(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "full")

    async def decide(work: UnitOfWork) -> None:
        ledger = await work.load(Ledger, ledger_id)
        if ledger.entries:
            raise ConflictError(f"there are {len(ledger.entries)}")
        ledger.enter(note="the only one")
        work.save(ledger)

    async with held(log, owner):
        first = asyncio.create_task(run(log, decide))
        await until_pending(log, ledger_id)
        second = asyncio.create_task(run(log, decide))
        await asyncio.sleep(0)
        # The aggregate moves on behind the refusal, which stands all the same.
        third = await submit(log, entering(ledger_id, "another"))
        await asyncio.sleep(0)
        assert not second.done()
    await first
    await third

    with pytest.raises(ConflictError, match="there are 1"):
        await second
    assert await entries(log, ledger_id) == ["the only one", "another"]


async def test_a_refusal_on_a_command_that_fails_is_decided_again(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "free")

    async def decide(work: UnitOfWork) -> int:
        ledger = await work.load(Ledger, ledger_id)
        if ledger.entries:
            raise ConflictError("taken")
        ledger.enter(note="mine")
        work.save(ledger)
        return ledger.version

    async with held(log, owner):
        bad = log.submit(unstorable(await decided(log, entering(ledger_id, "bad"))))
        refused = asyncio.create_task(run(log, decide))
        await asyncio.sleep(0)

    assert isinstance(await outcome(bad), Exception)
    assert (await refused)[0] == 2
    assert await entries(log, ledger_id) == ["mine"]


async def testnothing_to_do_is_answered_when_it_is_durable(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "on")

    async def switch_on(work: UnitOfWork) -> bool:
        ledger = await work.load(Ledger, ledger_id)
        if ledger.entries:
            return False
        ledger.enter(note="on")
        work.save(ledger)
        return True

    async with held(log, owner):
        both = [asyncio.create_task(run(log, switch_on)) for _ in range(2)]
        await until_pending(log, ledger_id)
        await asyncio.sleep(0)
        assert not any(each.done() for each in both)

    (changed, appended), (again, nothing) = await asyncio.gather(*both)
    assert (changed, again) == (True, False)
    assert appended is not None
    assert nothing is None
    assert await entries(log, ledger_id) == ["on"]


async def test_an_if_match_is_compared_with_what_is_pending(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "matched")

    def conditional(if_match: int) -> asyncio.Task[Any]:
        async def decide(work: UnitOfWork) -> int:
            ledger = await work.load(Ledger, ledger_id)
            work.match(ledger)
            ledger.enter(note=f"on {if_match}")
            work.save(ledger)
            return ledger.version

        return asyncio.create_task(
            execute(log, decide, metadata=METADATA, at=AT, if_match=if_match)
        )

    async with held(log, owner):
        requests = [conditional(version) for version in (1, 1, 2)]
        await until_pending(log, ledger_id, 2)

    assert (await requests[0])[0] == 2
    with pytest.raises(PreconditionFailedError) as refused:
        await requests[1]
    assert refused.value.headers == {"ETag": '"2"'}
    assert (await requests[2])[0] == 3
    assert await entries(log, ledger_id) == ["on 1", "on 2"]


async def test_callers_are_not_authenticated_from_what_is_pending(
    log: EventLog, owner: AsyncConnection
) -> None:
    """Their command waits for the commit, and then for no turn of others."""
    user_id = await open_ledger(log, "user")
    seen: list[int] = []

    async def authenticate() -> Principal:
        loaded = await log.load(user_id)
        assert loaded is not None
        seen.append(loaded.version)
        return Principal(user_id=user_id, facts={user_id: loaded.version})

    async def decide(work: UnitOfWork) -> None:
        work.save(Ledger(name="made by the user"))

    async with held(log, owner):
        changing = await submit(log, entering(user_id, "rights taken"))
        commanding = asyncio.create_task(
            execute(
                log,
                decide,
                metadata=METADATA,
                at=AT,
                principal=await authenticate(),
                authenticate=authenticate,
            )
        )
        await asyncio.sleep(0)
    await changing
    await commanding

    assert seen == [1, 2]


async def test_repeats_of_a_pending_command_get_its_answer(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "repeated")
    before = await commits(owner)
    async with held(log, owner):
        requests = [
            asyncio.create_task(
                run(log, entering(ledger_id, "once"), receipt=answered(b"k"))
            )
            for _ in range(30)
        ]
        await until_pending(log, ledger_id)
        await asyncio.sleep(0)

    first, *repeats = [await outcome(each) for each in requests]
    assert first[0] == 2
    for repeat in repeats:
        assert isinstance(repeat, AlreadyAnsweredError)
        assert repeat.receipt == await log.receipt(b"k")
    assert await commits(owner) == before + 2


async def test_a_repeat_of_a_command_that_fails_takes_its_place(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "repeated")
    receipt = Receipt(key=b"k", request=b"r", answer=b"2")
    async with held(log, owner):
        append = replace(
            await decided(log, entering(ledger_id, "fails")), receipt=receipt
        )
        bad = log.submit(unstorable(append))
        repeat = asyncio.create_task(
            run(log, entering(ledger_id, "stays"), receipt=answered(b"k"))
        )
        await asyncio.sleep(0)

    assert isinstance(await outcome(bad), Exception)
    assert (await repeat)[0] == 2
    assert await entries(log, ledger_id) == ["stays"]


async def test_an_aggregate_has_a_bounded_number_of_pending_commands(
    log: EventLog, owner: AsyncConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "PENDING_WRITES_MAX", 3)
    ledger_id = await open_ledger(log, "bounded")
    most = 0
    async with held(log, owner):
        requests = enter_many(log, ledger_id, 20)
        await until_pending(log, ledger_id, 3)
        await asyncio.sleep(0)
        most = len(log.pending.writes[ledger_id.int])

    assert most == 3
    assert sorted(await asyncio.gather(*requests)) == list(range(2, 22))
    assert len(await entries(log, ledger_id)) == 20


async def test_a_new_epoch_undoes_what_is_pending(
    log: EventLog, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "restored")
    async with held(log, owner):
        requests = enter_many(log, ledger_id, 5)
        await until_pending(log, ledger_id, 5)
        await owner.execute("UPDATE events.head SET epoch = gen_random_uuid()")

    assert sorted(await asyncio.gather(*requests)) == [2, 3, 4, 5, 6]
    assert len(await entries(log, ledger_id)) == 5


async def test_a_base_that_waits_too_long_in_the_queue(
    database_url: str, owner: AsyncConnection
) -> None:
    timeouts = Timeouts(queue_s=1.0, commit_s=120, settle_s=60)
    async with open_unhurried_log(database_url, timeouts) as log:
        ledger_id = await open_ledger(log, "slow")
        async with held(log, owner):
            first = await submit(log, entering(ledger_id, "too late"))
            second = await submit(log, entering(ledger_id, "rests on it"))

            assert isinstance(await outcome(first), OverloadedError)
            assert isinstance(
                await outcome(second), OverloadedError | VersionConflictError
            )
            assert ledger_id.int not in log.pending.writes
        assert await enter(log, ledger_id, "later") == 2
        assert await entries(log, ledger_id) == ["later"]


@pytest.mark.parametrize("fault", list(Fault))
async def test_a_lost_batch_of_one_aggregate_is_applied_once(
    proxy: Proxy, database_url: str, owner: AsyncConnection, fault: Fault
) -> None:
    timeouts = Timeouts(queue_s=60, commit_s=1, settle_s=60)
    async with open_log(proxy.url(database_url), timeouts=timeouts) as log:
        ledger_id = await open_ledger(log, "lost")
        proxy.fault = fault

        versions = await asyncio.gather(
            *(enter(log, ledger_id, str(number)) for number in range(30))
        )

        assert proxy.struck.is_set()
        assert sorted(versions) == list(range(2, 32))
        assert sorted(map(int, await entries(log, ledger_id))) == list(range(30))
        assert log.pending.writes == {}
    await expect_sound(owner)


async def test_what_rests_on_an_unknown_outcome_is_not_sent(
    proxy: Proxy, database_url: str, owner: AsyncConnection
) -> None:
    timeouts = Timeouts(queue_s=60, commit_s=60, settle_s=2)
    async with open_log(proxy.url(database_url), timeouts=timeouts) as log:
        ledger_id = await open_ledger(log, "away")
        append = await decided(log, entering(ledger_id, "perhaps"))
        proxy.fault = Fault.DROP_REPLY
        first = log.submit(append)
        await proxy.struck.wait()
        second = await submit(log, entering(ledger_id, "rests on it"))
        proxy.go_away()

        assert isinstance(await outcome(first), OutcomeUnknownError)
        refused = await outcome(second)
        assert isinstance(refused, VersionConflictError | UnavailableError)
        assert not isinstance(refused, OutcomeUnknownError)
        proxy.come_back()

        async def entered() -> int:
            try:
                return await enter(log, ledger_id, "after")
            except UnavailableError:
                return 0

        assert await until(entered) == 3
        assert await entries(log, ledger_id) == ["perhaps", "after"]
    await expect_sound(owner)


async def test_a_secret_is_revealed_while_it_is_overwritten(callers: Callers) -> None:
    """A pending value can't be opened yet: it is stored with its commit."""
    ann = await callers.user("ann")
    await ann.post("/api/secrets", {"name": "A", "value": "0"})

    replies = await asyncio.gather(
        *(
            ann.put("/api/secrets/A", {"value": str(number // 2)})
            if number % 2
            else ann.get("/api/secrets/A/value")
            for number in range(40)
        )
    )

    assert {reply.status for reply in replies} == {200}
