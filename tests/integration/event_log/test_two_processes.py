"""Several processes on one log: each decides on a cache that may be behind."""

import asyncio
import subprocess
import sys
from typing import Any
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from psycopg import AsyncConnection

from service.errors import ConflictError, UnauthenticatedError
from service.event_log import cache
from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.footprint import footprint
from service.resources import Resources
from service.users.aggregate import Token, User, token_id
from service.users.authenticate import TokenAuthenticator
from service.users.tokens import new_token
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import (
    AT,
    METADATA,
    enter,
    entering,
    entries,
    expect_sound,
    open_ledger,
    open_log,
    run,
)
from tests.support.project import ROOT
from tests.support.waiting import until


async def test_two_logs_make_one_dense_order(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    shared = await open_ledger(log, "shared")

    async def client(own: EventLog, name: str) -> None:
        mine = await open_ledger(own, name)
        for turn in range(10):
            await enter(own, mine, f"{turn}")
            if turn % 2:
                await enter(own, shared, f"{name}/{turn}")

    await asyncio.gather(
        *(client(log, f"a{n}") for n in range(12)),
        *(client(other_log, f"b{n}") for n in range(12)),
    )

    assert await expect_sound(owner) == 1 + 24 + 24 * 15
    found = await entries(log, shared)
    assert len(found) == len(set(found)) == 24 * 5


async def test_a_decision_on_a_stale_cache_is_made_again(
    log: EventLog, other_log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "stale")
    await enter(log, ledger_id, "known here")
    await enter(other_log, ledger_id, "moved there")
    seen: list[list[str]] = []

    async def decide(work: UnitOfWork) -> None:
        ledger = await work.load(Ledger, ledger_id)
        seen.append(ledger.entries)
        ledger.enter(note=f"after {ledger.entries[-1]}")
        work.save(ledger)

    await run(log, decide)

    assert seen[-1] == ["known here", "moved there"]
    assert (await entries(log, ledger_id))[-1] == "after moved there"


async def test_a_refusal_on_stale_facts_is_decided_again(
    log: EventLog, other_log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "shut")
    await log.load(ledger_id)
    await enter(other_log, ledger_id, "opened there")

    async def decide(work: UnitOfWork) -> str:
        ledger = await work.load(Ledger, ledger_id)
        if not ledger.entries:
            raise ConflictError("nothing is entered")
        return ledger.entries[0]

    result, _ = await run(log, decide)

    assert result == "opened there"


async def test_nothing_to_do_on_stale_facts_is_decided_again(
    log: EventLog, other_log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "toggled")
    await enter(log, ledger_id, "on")
    await enter(other_log, ledger_id, "off")

    async def switch_on(work: UnitOfWork) -> bool:
        ledger = await work.load(Ledger, ledger_id)
        if ledger.entries[-1] == "on":
            return False
        ledger.enter(note="on")
        work.save(ledger)
        return True

    changed, appended = await run(log, switch_on)

    assert changed
    assert appended is not None
    assert await entries(log, ledger_id) == ["on", "off", "on"]


async def test_a_refusal_on_standing_facts_stands(log: EventLog) -> None:
    decisions = 0

    async def decide(work: UnitOfWork) -> None:
        nonlocal decisions
        decisions += 1
        raise ConflictError("no")

    with pytest.raises(ConflictError):
        await run(log, decide)

    assert decisions == 1


async def test_a_token_revoked_elsewhere_is_of_no_use_to_a_command_in_flight(
    resources: Resources, other_log: EventLog
) -> None:
    log = resources.log
    token = new_token()
    revoked_id = token_id(resources.key_ring.token_hash(token))

    async def issue(work: UnitOfWork) -> None:
        user = User(name="ann")
        work.save(user)
        work.save(Token(id=revoked_id, user_id=str(user.id), label="test"))

    await run(log, issue)
    authenticator = TokenAuthenticator(log, resources.key_ring.token_hash)
    header = f"Bearer {token}"
    before = await authenticator.authenticate(header)
    attempts = 0

    async def decide(work: UnitOfWork) -> None:
        nonlocal attempts
        attempts += 1
        if attempts > 1:
            await authenticator.authenticate(header)
        work.relied_on(before.facts)
        work.save(User(name="made by a revoked token"))

    async def revoke(work: UnitOfWork) -> None:
        issued = await work.load(Token, revoked_id)
        issued.revoke()
        work.save(issued)

    await run(other_log, revoke)

    with pytest.raises(UnauthenticatedError):
        await execute(log, decide, metadata=METADATA, at=AT)

    assert await log.load(User.create_id("made by a revoked token")) is None


async def test_a_cache_hears_of_what_others_wrote(
    log: EventLog, other_log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "followed")
    assert version_in(log, ledger_id) == 1

    await run(other_log, entering(ledger_id, *"abc"))
    await until(lambda: version_in(log, ledger_id) == 4)
    kept = log.cache.get(ledger_id)
    log.cache.clear()
    loaded = await log.load(ledger_id)

    assert kept is not None
    assert loaded is not None
    assert kept is not loaded
    assert vars(kept) == vars(loaded)


async def test_a_cache_forgets_what_it_can_not_follow(
    log: EventLog, other_log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = await open_ledger(log, "followed")
    odd = await open_ledger(log, "odd")
    read = log.mapper.to_domain_event

    def to_domain_event(stored: StoredEvent) -> Any:
        if stored.originator_id == odd:
            raise ValueError("can't be read")
        return read(stored)

    monkeypatch.setattr(log.mapper, "to_domain_event", to_domain_event)
    await enter(other_log, odd, "a")
    await enter(other_log, followed, "b")
    await until(lambda: version_in(log, followed) == 2)

    assert version_in(log, odd) is None


def version_in(log: EventLog, aggregate_id: UUID) -> int | None:
    cached = log.cache.get(aggregate_id)
    return cached.version if cached else None


async def test_an_hour_of_others_writing_doesnt_fill_the_memory(
    log: EventLog, other_log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.event_log.cache_tail.CATCH_UP_POSITIONS_MAX", 3)
    ledger_id = await open_ledger(log, "far behind")

    await run(other_log, entering(ledger_id, *"abcdefgh"))

    await until(lambda: log.cache.get(ledger_id) is None)


async def test_the_cache_is_bounded_in_bytes(database_url: str) -> None:
    async with open_log(database_url, cache_bytes_max=100_000) as log:
        ledgers = [await open_ledger(log, str(number)) for number in range(30)]
        for each in ledgers:
            await enter(log, each, "x" * 20_000)

        assert log.cache.bytes <= 100_000
        assert [each for each in ledgers if log.cache.get(each)] == ledgers[-4:]


@pytest.mark.thorough
async def test_two_real_processes_on_one_aggregate(
    log: EventLog, database_url: str, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "shared")
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.integration.event_log.competitor",
            database_url,
            str(ledger_id),
            name,
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        for name in ("a", "b")
    ]

    printed = [await process.communicate() for process in processes]

    assert [process.returncode for process in processes] == [0, 0], printed
    found = await entries(log, ledger_id)
    assert sorted(found) == sorted(f"{p}/{n}" for p in "ab" for n in range(100))
    for process in "ab":
        own = [note for note in found if note.startswith(process)]
        assert own == [f"{process}/{n}" for n in range(100)]
    assert await expect_sound(owner) == 201


async def test_an_aggregate_created_by_both_is_created_once(
    log: EventLog, other_log: EventLog
) -> None:
    async def create(work: UnitOfWork) -> bool:
        ledger_id: UUID = Ledger.create_id("one of a kind")
        if await work.find(Ledger, ledger_id):
            return False
        work.save(Ledger(name="one of a kind"))
        return True

    results = await asyncio.gather(
        *(run(each, create) for each in [log, other_log] * 10)
    )

    assert sum(created for created, _ in results) == 1


async def test_events_of_another_process_are_not_each_a_measurement(
    log: EventLog, other_log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger_id = await open_ledger(log, "large")
    await enter(log, ledger_id, *(f"note {number}" for number in range(200)))

    async def is_kept() -> bool:
        await other_log.load(ledger_id)
        return other_log.cache.get(ledger_id) is not None

    await until(is_kept)
    measured = []

    def measure(state: Any) -> int:
        measured.append(state)
        return footprint(state)

    monkeypatch.setattr(cache, "footprint", measure)
    version = 0
    for number in range(20):
        version = await enter(other_log, ledger_id, f"{number}")

    await until(lambda: version_in(log, ledger_id) == version)
    assert measured == []
