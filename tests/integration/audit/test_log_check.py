"""The background check: the log against its tree, again and again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient
from psycopg import AsyncConnection

from projections.audit.proofs import log_time
from projections.audit.proofs.log_check import (
    CONTRADICTED,
    LOCK,
    STATEMENT_POSITIONS,
    STEP_POSITIONS_MIN,
    LogCheck,
    run_log_check,
)
from projections.audit.proofs.log_time import AHEAD_MAX_S
from projections.audit.proofs.signer import CheckpointSigner, ContradictionError
from projections.engine.progress import wait_for_position
from service.cli.doctor import check_installation
from service.database import ADVISORY_LOCK, Db
from service.resources import Resources
from tests.support.audit.tampering import as_owner, sign
from tests.support.callers import Callers
from tests.support.configured import configured
from tests.support.event_log.logs import enter, entering, open_ledger, open_log, run
from tests.support.metrics import value_of
from tests.support.waiting import until

CHANGE = "UPDATE events.stored_event SET state = state || '\\x20'"
MOVE = "UPDATE events.stored_event SET notification_id"
REHASH = "UPDATE events.merkle_node SET hash = sha256(hash)"
INSERT = """
    INSERT INTO events.stored_event
    SELECT gen_random_uuid(), 1, topic, state, {}, recorded_at, gen_random_uuid(),
           metadata
      FROM events.stored_event
     WHERE notification_id = 3
"""
HARMED = {
    "changed": (
        [f"{CHANGE} WHERE notification_id = 3"],
        "position 3 changed in the log",
    ),
    "deleted": (
        ["DELETE FROM events.stored_event WHERE notification_id = 3"],
        "position 3 missing from the log",
    ),
    "swapped": (
        [
            f"{MOVE} = 107 - notification_id WHERE notification_id IN (3, 4)",
            f"{MOVE} = notification_id - 100 WHERE notification_id > 100",
        ],
        "positions 3 to 4 changed in the log",
    ),
    "inserted before the first": (
        [INSERT.format(-1), INSERT.format(0)],
        "positions -1 to 0 outside the log",
    ),
    "inserted beyond the last": (
        [INSERT.format(1000)],
        "position 1000 outside the log",
    ),
    "cut": (
        [
            "DELETE FROM events.stored_event WHERE notification_id > 4",
            "UPDATE events.head SET position = 4",
        ],
        "positions 5 to 6 missing from the log",
    ),
    "the head is moved on": (
        ["UPDATE events.head SET position = position + 10"],
        "positions 7 to 16 missing from the log",
    ),
    "a leaf of the tree": (
        [f"{REHASH} WHERE level = 0 AND number = 2"],
        "position 3 changed in the log; positions 3 to 4 changed in the tree",
    ),
    "an inner node": (
        [f"{REHASH} WHERE level = 1 AND number = 0"],
        "positions 1 to 4 changed in the tree",
    ),
}


@pytest.fixture
async def db(resources: Resources) -> AsyncIterator[Db]:
    async with await AsyncConnection.connect(
        resources.conninfo, autocommit=True
    ) as connection:
        yield connection


async def six_events(callers: Callers, resources: Resources) -> None:
    for name in ("ada", "bob", "cyd"):
        await callers.user(name)
    head = (await resources.log.head()).position
    assert head == 6
    await wait_for_position(resources.pool, ["merkle_tree"], head, timeout_s=60)


async def test_a_sound_log_passes(
    callers: Callers, resources: Resources, client: TestClient, db: Db
) -> None:
    await six_events(callers, resources)

    assert await LogCheck(resources.conninfo, pass_s=1).step(db)

    answer = (await (await client.get("/readyz")).json())["data"]
    assert answer["status"] == "ready"
    assert answer["log_check"]["position"] == 6
    assert answer["log_check"]["completed_at"] is not None
    assert answer["log_check"]["contradiction"] is None


@pytest.mark.parametrize("harm", HARMED)
async def test_harm_is_found_told_and_stops_the_signing(
    callers: Callers,
    resources: Resources,
    client: TestClient,
    db: Db,
    tmp_path: Path,
    harm: str,
) -> None:
    statements, words = HARMED[harm]
    await six_events(callers, resources)
    await sign(resources, tmp_path)
    await as_owner(resources, *statements)

    await LogCheck(resources.conninfo, pass_s=1).step(db)

    answer = (await (await client.get("/readyz")).json())["data"]
    assert answer["status"] == "degraded"
    assert answer["log_check"]["contradiction"] == words
    metrics = await (await client.get("/metrics")).text()
    assert "agent_runtime_log_check_contradicted 1.0" in metrics
    with pytest.raises(ContradictionError):
        await CheckpointSigner(resources.pool, tmp_path).sign()
    checks = await check_installation(
        configured(data_dir=str(tmp_path)), resources.database_url, None
    )
    problems = [each.problem for each in checks if "Merkle" in each.name]
    assert problems == [words]


async def test_a_tree_that_was_emptied_is_told(
    callers: Callers, resources: Resources, client: TestClient, db: Db, tmp_path: Path
) -> None:
    await six_events(callers, resources)
    await as_owner(
        resources,
        "TRUNCATE events.merkle_node",
        "UPDATE events.merkle_tree SET size = 0",
    )

    await LogCheck(resources.conninfo, pass_s=1).step(db)

    answer = (await (await client.get("/readyz")).json())["data"]
    assert answer["status"] == "degraded"
    words = "positions 1 to 6 deleted from the tree"
    assert answer["log_check"]["contradiction"] == words
    checks = await check_installation(
        configured(data_dir=str(tmp_path)), resources.database_url, None
    )
    assert words in [each.problem for each in checks if "Merkle" in each.name]


async def test_the_follower_of_the_tree_says_which_position_is_missing(
    callers: Callers, resources: Resources, client: TestClient
) -> None:
    await six_events(callers, resources)
    await as_owner(resources, "UPDATE events.head SET position = position + 10")
    await callers.user("dan")

    async def why() -> str | None:
        answer = (await (await client.get("/readyz")).json())["data"]
        stopped: dict[str, str | None] = {
            each["name"]: each["stopped"] for each in answer["followers"]
        }
        return stopped["merkle_tree"]

    said = await until(why)
    assert said is not None
    assert said.endswith(": the log has no position 7")


async def test_a_log_ahead_of_the_clock_is_told_once(
    callers: Callers,
    resources: Resources,
    db: Db,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await six_events(callers, resources)
    check = LogCheck(resources.conninfo, pass_s=1)
    await check.step(db)
    assert value_of(log_time.SECONDS) <= AHEAD_MAX_S
    await as_owner(
        resources, "UPDATE events.head SET recorded_at = recorded_at + '1 year'"
    )
    # Events to come are recorded later still.
    await callers.user("dan")

    for _ in range(2):
        await check.step(db)

    assert value_of(log_time.SECONDS) > 300 * 24 * 3600
    [told] = [each for each in caplog.messages if "ahead of the" in each]
    assert "the log's last event is" in told
    checks = await check_installation(
        configured(data_dir=str(tmp_path)), resources.database_url, None
    )
    [problem] = [each.problem for each in checks if "clock" in each.name]
    assert problem is not None
    assert "ahead" in problem


async def test_it_is_told_until_a_whole_pass_finds_nothing(
    callers: Callers, resources: Resources, db: Db
) -> None:
    await six_events(callers, resources)
    change = (
        "UPDATE events.stored_event"
        " SET recorded_at = recorded_at {} interval '1 microsecond'"
        " WHERE notification_id = 3"
    )
    check = LogCheck(resources.conninfo, pass_s=1)
    await as_owner(resources, change.format("+"))
    await check.step(db)
    assert await contradiction(db) == "position 3 changed in the log"
    await as_owner(resources, change.format("-"))

    await check.step(db)

    assert await contradiction(db) is None


async def test_a_pass_begins_with_the_first_event_though_the_log_has_grown(
    callers: Callers, resources: Resources, db: Db
) -> None:
    await six_events(callers, resources)
    check = LogCheck(resources.conninfo, pass_s=1)
    assert await check.step(db)
    await as_owner(resources, *HARMED["changed"][0])
    await callers.user("dan")
    position = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["merkle_tree"], position, timeout_s=60)

    await check.step(db)

    assert await contradiction(db) == "position 3 changed in the log"


async def test_after_a_restart_it_is_told_before_it_is_found_again(
    callers: Callers, resources: Resources, db: Db
) -> None:
    await six_events(callers, resources)
    await as_owner(resources, *HARMED["changed"][0])
    await LogCheck(resources.conninfo, pass_s=1).step(db)
    CONTRADICTED.set(0)

    async with run_log_check(resources.conninfo, pass_s=1):
        await until(lambda: value_of(CONTRADICTED) == 1)


async def test_a_process_that_compares_no_more_tells_nothing(
    callers: Callers, resources: Resources, db: Db
) -> None:
    await six_events(callers, resources)
    await as_owner(
        resources,
        *HARMED["changed"][0],
        "UPDATE events.head SET recorded_at = recorded_at + '1 year'",
    )
    await LogCheck(resources.conninfo, pass_s=1).step(db)
    assert value_of(CONTRADICTED) == 1
    await db.execute(ADVISORY_LOCK, [LOCK])

    async with run_log_check(resources.conninfo, pass_s=1):
        await until(lambda: value_of(CONTRADICTED) == 0)
        assert value_of(log_time.SECONDS) == 0


async def test_events_since_the_last_checkpoint_are_compared_before_signing(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    """The background check needs not have come to them."""
    await six_events(callers, resources)
    await as_owner(resources, *HARMED["changed"][0])

    with pytest.raises(ContradictionError, match="position 3 changed in the log"):
        await CheckpointSigner(resources.pool, tmp_path).sign()


async def test_a_long_log_is_compared_in_steps_that_go_on_after_a_restart(
    resources: Resources, db: Db
) -> None:
    events = 2 * STEP_POSITIONS_MIN + 5
    async with open_log(resources.database_url) as log:
        ledger_id = await open_ledger(log, "long")
        await run(log, entering(ledger_id, *("x" for _ in range(events - 2))))
        await enter(log, ledger_id, "last")
    await as_owner(resources, f"SELECT events.grow_tree({events})")
    await as_owner(resources, f"{CHANGE} WHERE notification_id = {events}")
    assert STATEMENT_POSITIONS <= STEP_POSITIONS_MIN

    ends = [await LogCheck(resources.conninfo, pass_s=3600).step(db) for _ in range(3)]

    assert ends == [False, False, True]
    assert await contradiction(db) == f"position {events} changed in the log"


async def contradiction(db: Db) -> str | None:
    row = await (
        await db.execute("SELECT contradiction FROM read.log_check")
    ).fetchone()
    assert row is not None
    text: str | None = row[0]
    return text
