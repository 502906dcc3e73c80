"""The connection is lost around a commit: applied once, and never a false answer."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from aiohttp.test_utils import TestClient, TestServer
from psycopg import AsyncConnection

from service.app import create_app
from service.errors import UnavailableError
from service.event_log.append import (
    AlreadyAnsweredError,
    OutcomeUnknownError,
)
from service.event_log.log import EventLog
from service.event_log.writer import Timeouts
from service.open_resources import open_resources
from service.waits import Waits
from tests.support.callers import Callers, Reply
from tests.support.event_log.logs import (
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
    run,
)
from tests.support.postgres_proxy import Fault, Proxy
from tests.support.reading import read_events
from tests.support.waiting import until, until_done

UNREACHABLE = (UnavailableError, psycopg.OperationalError)
# Beyond any of these bounds on a busy machine, and not forever.
BOUND_S = 30.0
# For a stalled commit to be given up, and its outcome to be found for certain.
SETTLING = Timeouts(queue_s=60.0, commit_s=1.0, settle_s=60.0)
# For an outcome that can't be found.
GIVING_UP = Timeouts(queue_s=60.0, commit_s=60.0, settle_s=2.0)
REFUSING = Timeouts(queue_s=2.0, commit_s=1.0, settle_s=2.0)


@pytest.fixture
def timeouts() -> Timeouts:
    return SETTLING


@pytest.fixture
async def log(
    proxy: Proxy, database_url: str, owner: AsyncConnection, timeouts: Timeouts
) -> AsyncIterator[EventLog]:
    """A log whose connections all lead through the proxy."""
    async with open_log(proxy.url(database_url), timeouts=timeouts) as log:
        yield log
    await expect_sound(owner)


@pytest.mark.parametrize("fault", list(Fault))
async def test_a_lost_commit_is_applied_once_and_answered(
    log: EventLog, proxy: Proxy, fault: Fault
) -> None:
    ledger_id = await open_ledger(log, "kept")
    proxy.fault = fault

    version = await enter(log, ledger_id, "once")

    assert proxy.struck.is_set()
    assert version == 2
    assert await entries(log, ledger_id) == ["once"]
    assert await enter(log, ledger_id, "twice") == 3


@pytest.mark.parametrize("fault", list(Fault))
async def test_a_lost_batch_is_settled_command_by_command(
    log: EventLog, proxy: Proxy, fault: Fault
) -> None:
    ledger_ids = [await open_ledger(log, f"{n}") for n in range(8)]
    proxy.fault = fault

    await asyncio.gather(*(enter(log, each, "a", "b") for each in ledger_ids))

    for ledger_id in ledger_ids:
        assert await entries(log, ledger_id) == ["a", "b"]


async def test_the_position_of_a_settled_command_is_its_own(
    log: EventLog, proxy: Proxy
) -> None:
    proxy.fault = Fault.DROP_REPLY

    appended = await asyncio.gather(*(log.append(new_ledger(log)) for _ in range(5)))

    assert [each.position for each in appended] == [1, 2, 3, 4, 5]
    recorded = await read_events(log, after=0, upto=5, limit=9)
    assert [each.recorded_at for each in recorded] == [
        each.recorded_at for each in appended
    ]


async def test_a_request_that_arrives_late_finds_its_server_process_ended(
    log: EventLog, proxy: Proxy, owner: AsyncConnection
) -> None:
    """Otherwise it would commit behind the answer that it had not."""
    ledger_id = await open_ledger(log, "late")
    stalled = await decided(log, entering(ledger_id, "decided before"))
    proxy.fault = Fault.STALL_REQUEST

    appended = await log.append(stalled)
    proxy.late.set()
    await enter(log, ledger_id, "after")

    assert appended.position == 2
    assert await entries(log, ledger_id) == ["decided before", "after"]
    assert await expect_sound(owner) == 3


async def test_many_lost_replies_in_a_row_make_no_phantom_conflict(
    log: EventLog, proxy: Proxy
) -> None:
    ledger_id = await open_ledger(log, "unlucky")
    faults = [Fault.DROP_REPLY, Fault.CUT_BEFORE_REQUEST, Fault.CUT_BEHIND_REQUEST]

    for number in range(60):
        proxy.fault = faults[number % 3]
        assert await enter(log, ledger_id, str(number)) == number + 2

    assert await entries(log, ledger_id) == [str(number) for number in range(60)]


async def test_the_cache_is_not_behind_a_settled_command(
    log: EventLog, proxy: Proxy
) -> None:
    ledger_id = await open_ledger(log, "cached")
    proxy.fault = Fault.DROP_REPLY
    await enter(log, ledger_id, "seen")

    loaded = await log.load(ledger_id)

    assert loaded is not None
    assert loaded.version == 2


@pytest.mark.parametrize("timeouts", [GIVING_UP])
@pytest.mark.thorough
async def test_while_the_database_stays_away_the_outcome_is_called_unknown(
    log: EventLog, proxy: Proxy, owner: AsyncConnection
) -> None:
    ledger_id = await open_ledger(log, "away")
    append = await decided(log, entering(ledger_id, "perhaps"))
    proxy.fault = Fault.DROP_REPLY
    waiting = asyncio.create_task(log.append(append))
    await proxy.struck.wait()
    proxy.go_away()
    started = time.monotonic()

    with pytest.raises(OutcomeUnknownError) as unknown:
        await waiting

    assert time.monotonic() - started < BOUND_S
    assert unknown.value.code == "outcome_unknown"
    assert unknown.value.headers == {"Retry-After": "1"}
    proxy.come_back()


@pytest.mark.thorough
async def test_unsent_commands_have_a_known_outcome(
    log: EventLog, proxy: Proxy
) -> None:
    proxy.go_away()
    await asyncio.sleep(0.05)
    started = time.monotonic()

    with pytest.raises(UnavailableError) as refused:
        await log.append(new_ledger(log))

    assert type(refused.value) is UnavailableError
    assert time.monotonic() - started < BOUND_S
    proxy.come_back()
    appended = await until_done(lambda: log.append(new_ledger(log)), *UNREACHABLE)
    assert appended.position == 1


@pytest.mark.parametrize("timeouts", [GIVING_UP])
async def test_after_an_unknown_outcome_the_same_key_gives_the_first_answer(
    log: EventLog, proxy: Proxy
) -> None:
    ledger_id = await open_ledger(log, "keyed")

    proxy.fault = Fault.DROP_REPLY
    waiting = asyncio.create_task(
        run(log, entering(ledger_id, "x"), receipt=answered(b"key"))
    )
    await proxy.struck.wait()
    proxy.go_away()
    with pytest.raises(OutcomeUnknownError):
        await waiting
    proxy.come_back()

    with pytest.raises(AlreadyAnsweredError) as repeated:
        await until_done(
            lambda: run(log, entering(ledger_id, "x"), receipt=answered(b"key")),
            *UNREACHABLE,
        )

    assert repeated.value.receipt.answer == b"2"
    assert repeated.value.receipt.position == 2
    assert await entries(log, ledger_id) == ["x"]


async def test_a_receipt_without_events_is_settled_by_its_key(
    log: EventLog, proxy: Proxy
) -> None:
    proxy.fault = Fault.DROP_REPLY

    result, appended = await run(log, nothing, receipt=answered(b"k"))

    assert result == "nothing"
    assert appended is not None
    assert appended.position is None
    kept = await log.receipt(b"k")
    assert kept is not None
    assert kept.answer == b"nothing"


@pytest.mark.parametrize("fault", [Fault.CUT_BEHIND_REQUEST, Fault.DROP_REPLY])
async def test_a_repetition_that_has_nothing_to_do_gets_the_first_answer(
    log: EventLog, proxy: Proxy, fault: Fault
) -> None:
    ledger_id = await open_ledger(log, "repeated")

    await run(log, entering(ledger_id, "x"), receipt=answered(b"k"))
    proxy.fault = fault

    with pytest.raises(AlreadyAnsweredError) as repeated:
        await run(log, nothing, receipt=answered(b"k"))

    assert repeated.value.receipt.answer == b"2"
    assert repeated.value.receipt.position == 2


@pytest.mark.parametrize("timeouts", [REFUSING])
@pytest.mark.thorough
async def test_an_event_log_that_hangs_answers_within_a_bound(
    log: EventLog, owner: AsyncConnection
) -> None:
    """The head is locked by somebody who doesn't let go."""
    started = time.monotonic()
    async with owner.transaction():
        await owner.execute("SELECT FROM events.head FOR UPDATE")
        outcomes = await asyncio.gather(
            *(log.append(new_ledger(log)) for _ in range(20)), return_exceptions=True
        )

    assert all(isinstance(outcome, UnavailableError) for outcome in outcomes)
    assert time.monotonic() - started < BOUND_S
    appended = await until_done(lambda: log.append(new_ledger(log)), *UNREACHABLE)
    assert appended.position == 1


@pytest.mark.thorough
async def test_over_http_unknown_is_503_and_the_same_key_gives_the_first_answer(
    proxy: Proxy, database_url: str, tmp_path: Path
) -> None:
    # The outcome is looked up for as long as a command waits for others.
    waits = Waits(commit_s=GIVING_UP.settle_s)
    path = "/api/mcp/connectors"
    body = {"name": "a", "url": "https://tools.example/mcp", "description": ""}
    async with (
        open_resources(proxy.url(database_url), tmp_path, waits=waits) as resources,
        TestClient(TestServer(create_app(resources))) as client,
    ):
        ann = await Callers(resources, client).user("ann")
        proxy.fault = Fault.DROP_REPLY
        started = time.monotonic()
        asking = asyncio.create_task(ann.post(path, body, Idempotency_Key="k"))
        await proxy.struck.wait()
        proxy.go_away()
        unknown = await asking
        waited_s = time.monotonic() - started
        proxy.come_back()

        async def answered() -> Reply | None:
            reply = await ann.post(path, body, Idempotency_Key="k")
            return None if reply.status == 503 else reply

        again = await until(answered)
        head = await resources.log.head()

    assert unknown.status == 503
    assert unknown.code == "outcome_unknown"
    assert unknown.headers["Retry-After"] == "1"
    assert waited_s < BOUND_S
    assert again is not None
    assert again.status == 201
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.position == head.position
