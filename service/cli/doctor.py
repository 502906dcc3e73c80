"""``agent-runtime doctor``: checks of an installation."""

import argparse
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from projections.audit.proofs.contradictions import (
    Contradiction,
    contradictions_between,
    described,
    ends_apart,
    known_contradiction,
    tree_of,
)
from projections.audit.proofs.log_time import said, seconds_ahead
from projections.audit.proofs.signer_problems import signers_problem
from service.capabilities.catalog import followers_left_out
from service.cli.check import Check
from service.cli.data_folder_checks import check_data_folder
from service.cli.databases import (
    migrated_database,
    require_data_folder,
    require_primary,
)
from service.cli.read_replica import check_replica
from service.cli.running import EXIT_FAILED, run_async
from service.cli.settings import add_settings
from service.config import Config
from service.connection_pool import connection_pool
from service.database import Pool, service_conninfo
from service.errors import ConfigError
from service.event_log.writer_connection import WRITER_NAME, WRITERS_MAX
from service.keys.canary import check_canaries
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.keys.root_key import RootKeys
from service.keys.root_key_source import outside_root_keys
from service.logs import escape_unprintable
from service.migrate import PendingMigrationsError
from service.secrets.missing_values import missing_values

TESTED_VERSIONS: Final = frozenset({18})
# How long events are compared with the tree, the newest first. The service itself
# compares all of them.
TREE_CHECK_S: Final = 20.0
TREE_CHECK_STEP: Final = 10_000
MISSING_SHOWN_MAX: Final = 10
LAG_MAX: Final = 10_000
MIGRATED: Final = "migrations are applied"
# The newest positions are checked for gaps: a log of any length takes no longer.
POSITIONS_CHECKED_MAX: Final = 100_000
DURABLE: Final[Mapping[str, str]] = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
}
SETTINGS = "SELECT name, setting FROM pg_settings WHERE name = ANY (%s)"
RIGHTS = """
    SELECT string_agg(format('%s on %s', right_, table_), ', ')
      FROM unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE']) AS right_,
           unnest(ARRAY['events.stored_event', 'events.merkle_node',
                        'events.merkle_tree', 'events.checkpoint']) AS table_
     WHERE has_table_privilege(table_, right_)
"""
POSITIONS = """
    SELECT (SELECT position FROM events.head),
           count(*), coalesce(min(position), 1), coalesce(max(position), 0)
      FROM (SELECT notification_id AS position
              FROM events.stored_event
             ORDER BY notification_id DESC
             LIMIT %s) newest
"""
WRITERS = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = %s
"""
FOLLOWERS = """
    SELECT p.follower, h.position - p.position, p.reason
      FROM read.position p CROSS JOIN events.head h
     ORDER BY p.follower
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Check the data folder, the database and its migrations, the read replica, the "
        "newest 100,000 positions of the event log and its time, the followers, the "
        "keys, and the values of secrets. Changes nothing; exits with 1 if a check "
        "fails (FAIL). A warning (WARN), such as a first token that is still there a "
        "day later, or an untested version of PostgreSQL, fails nothing."
    )
    add_settings(parser)
    parser.set_defaults(run=doctor_command)


def doctor_command(config: Config, _options: argparse.Namespace) -> int:
    require_primary(config)
    require_data_folder(config)
    try:
        with migrated_database(config) as url:
            return run_async(_doctor(config, url))
    except PendingMigrationsError as error:
        problem = f"{error}; the database isn't checked further before"
        return _report(
            [
                *check_data_folder(config.data_dir, datetime.now(UTC)),
                Check(MIGRATED, problem),
            ]
        )


async def _doctor(config: Config, database_url: str) -> int:
    root = await outside_root_keys(config, config.wait_root_key_s)
    checks = await check_installation(config, database_url, root)
    return _report([Check(MIGRATED), *checks])


def _report(checks: Sequence[Check]) -> int:
    for check in checks:
        if check.problem is None:
            print(f"ok    {check.name}")
        else:
            word = "WARN" if check.warns else "FAIL"
            print(f"{word}  {check.name}: {escape_unprintable(check.problem)}")
    failed = any(check.problem and not check.warns for check in checks)
    return EXIT_FAILED if failed else 0


async def check_installation(
    config: Config, database_url: str, root: RootKeys | None
) -> list[Check]:
    """Run every check; none of them changes the installation.

    :raises ConfigError: the settings leave out what can't be left out
    """
    followers = partial(_followers, left_out=followers_left_out(config))
    proofs = [] if "proofs" in config.left_out else [_tree, _signing]
    checks = check_data_folder(config.data_dir, datetime.now(UTC))
    if config.left_out:
        checks.append(Check(f"left out: {', '.join(sorted(config.left_out))}"))
    async with connection_pool(service_conninfo(database_url)) as pool:
        on_database: list[Callable[[Pool], Awaitable[list[Check]]]] = [
            _version,
            _durability,
            _privileges,
            _positions,
            *proofs,
            _time,
            _sealed_values,
            followers,
            _writers,
        ]
        for check in on_database:
            checks += await check(pool)
        checks.append(await _keys(pool, config.data_dir, root))
        if config.read_database_url is not None:
            replica = service_conninfo(config.read_database_url)
            found = await check_replica(pool, replica)
            checks += [Check(name, problem) for name, problem in found.items()]
    return checks


async def _version(pool: Pool) -> list[Check]:
    async with pool.connection() as db:
        version = db.info.server_version // 10_000
    problem = None
    if version not in TESTED_VERSIONS:
        problem = f"it is {version}, with which this service isn't tested; use 18"
    return [Check("PostgreSQL is a version that is tested", problem, warns=True)]


async def _durability(pool: Pool) -> list[Check]:
    async with pool.connection() as db:
        rows = await (await db.execute(SETTINGS, [list(DURABLE)])).fetchall()
    return [
        Check(
            f"PostgreSQL setting {name} is {DURABLE[name]}",
            None
            if value == DURABLE[name]
            else f"it is {value}, so a crash can lose acknowledged commands",
        )
        for name, value in rows
    ]


async def _privileges(pool: Pool) -> list[Check]:
    async with pool.connection() as db:
        row = await (await db.execute(RIGHTS)).fetchone()
    problem = f"it has {row[0]}; revoke that" if row and row[0] else None
    return [Check("service role can only append events", problem)]


async def _positions(pool: Pool) -> list[Check]:
    async with pool.connection() as db:
        cursor = await db.execute(POSITIONS, [POSITIONS_CHECKED_MAX])
        row = await cursor.fetchone()
    assert row is not None
    head, count, first, last = row
    expected_first = max(1, head - POSITIONS_CHECKED_MAX + 1)
    is_dense = (first, last) == (expected_first, head) and count == last - first + 1
    return [
        Check(
            f"event positions {expected_first} to {head} have no gaps",
            None if is_dense else f"found {count} events from {first} to {last}",
        )
    ]


async def _tree(pool: Pool) -> list[Check]:
    """Hash the newest events again, as many as there is time for."""
    give_up = time.monotonic() + TREE_CHECK_S
    found: list[Contradiction] = []
    async with pool.connection() as db:
        tree = await tree_of(db)
        first = tree.size
        while first and not found and time.monotonic() < give_up:
            upto, first = first, max(first - TREE_CHECK_STEP, 0)
            found = await contradictions_between(db, after=first, upto=upto)
        known = await known_contradiction(db)
        # A log that ends before its head is a gap of its positions.
        found += [each for each in await ends_apart(db) if each.what == "cut"]
    if tree.head < tree.size:
        found = [Contradiction("missing", tree.head + 1, tree.size), *found]
    problem = described(found) if found else known
    return [Check(f"events {first + 1} to {tree.size} match the Merkle tree", problem)]


async def _signing(pool: Pool) -> list[Check]:
    async with pool.connection() as db:
        problem = await signers_problem(db)
    return [Check("checkpoints of the log are signed", problem)]


async def _time(pool: Pool) -> list[Check]:
    async with pool.connection() as db:
        problem = said(await seconds_ahead(db))
    return [Check("the log's time is not ahead of the clock", problem)]


async def _sealed_values(pool: Pool) -> list[Check]:
    """Compare which values of secrets the log keeps with which are there."""
    async with pool.connection() as db:
        missing = await missing_values(db)
    problem = None
    if missing:
        named = ", ".join(map(str, missing[:MISSING_SHOWN_MAX]))
        problem = (
            f"{len(missing)} are missing, though the log has not destroyed them: "
            f"of secret {named}; restore the database from a backup"
        )
    return [Check("values of secrets are there", problem)]


async def _followers(pool: Pool, *, left_out: Sequence[str]) -> list[Check]:
    async with pool.connection() as db:
        rows = await (await db.execute(FOLLOWERS)).fetchall()
    checks = []
    for name, lag, reason in rows:
        if name in left_out:
            continue
        problem = f"stopped: {reason}" if reason else None
        if problem is None and lag > LAG_MAX:
            problem = f"{lag} events behind"
        checks.append(Check(f"follower {name} is up to date", problem))
    return checks


async def _writers(pool: Pool) -> list[Check]:
    async with pool.connection() as db:
        row = await (await db.execute(WRITERS, [WRITER_NAME])).fetchone()
    assert row is not None
    problem = None
    if row[0] > WRITERS_MAX:
        problem = (
            f"{row[0]} do, and each one more makes every commit slower; start those "
            "that only need to read with --only api --reads-only"
        )
    name = f"at most {WRITERS_MAX} processes take commands"
    return [Check(name, problem, warns=True)]


async def _keys(pool: Pool, data_dir: Path, root: RootKeys | None) -> Check:
    name = "keys match the database"
    try:
        ring = KeyRing.load(data_dir / KEY_RING_FILE, root=root)
        await check_canaries(pool, ring)
    except ConfigError as error:
        return Check(name, str(error))
    return Check(name)
