"""Look at an installation and say what is wrong with it."""

import stat
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from service.bootstrap import TOKEN_FILE
from service.database import connection_pool, service_conninfo
from service.keys.canary import verify_canary
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.keys.root_key import KeyRingError, RootKeys, WrongRootKeyError

LAG_MAX = 10_000
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
SETTINGS = "SELECT name, setting FROM pg_settings WHERE name = ANY (%s)"
RIGHTS = """
    SELECT has_table_privilege('events.stored_event', 'UPDATE')
        OR has_table_privilege('events.stored_event', 'DELETE')
        OR has_table_privilege('events.stored_event', 'TRUNCATE')
"""
POSITIONS = """
    SELECT h.position, count(e.notification_id), coalesce(max(e.notification_id), 0)
      FROM events.head h LEFT JOIN events.stored_event e ON true
     GROUP BY h.position
"""
FOLLOWERS = """
    SELECT p.follower, h.position - p.position, p.reason
      FROM read.position p CROSS JOIN events.head h
     ORDER BY p.follower
"""

Pool = AsyncConnectionPool[AsyncConnection[Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at; ``fault`` says what is wrong with it, or is None."""

    subject: str
    fault: str | None = None


async def examine(
    database_url: str, data_dir: Path, root: RootKeys | None
) -> list[Finding]:
    """Look at folder, keys, database, log and followers; change nothing."""
    findings = [_folder(data_dir), _first_token(data_dir)]
    async with connection_pool(service_conninfo(database_url)) as pool:
        checks: list[Callable[[Pool], Awaitable[list[Finding]]]] = [
            _durability,
            _rights,
            _log,
            _followers,
        ]
        for check in checks:
            findings += await check(pool)
        findings.append(await _keys(pool, data_dir, root))
    return findings


def _folder(data_dir: Path) -> Finding:
    mode = stat.S_IMODE(data_dir.stat().st_mode)
    open_to_others = mode & (stat.S_IRWXG | stat.S_IRWXO)
    return Finding(
        "data folder is private",
        f"mode is {mode:04o}; make it 0700" if open_to_others else None,
    )


def _first_token(data_dir: Path) -> Finding:
    file = data_dir / TOKEN_FILE
    return Finding(
        "the first token is put away",
        "admin-token is still there: issue tokens to people, revoke this one"
        if file.exists()
        else None,
    )


async def _durability(pool: Pool) -> list[Finding]:
    async with pool.connection() as db:
        rows = await (await db.execute(SETTINGS, [list(DURABLE)])).fetchall()
    return [
        Finding(
            f"PostgreSQL: {name} is {DURABLE[name]}",
            None if value == DURABLE[name] else f"it is {value}: commits can be lost",
        )
        for name, value in rows
    ]


async def _rights(pool: Pool) -> list[Finding]:
    async with pool.connection() as db:
        row = await (await db.execute(RIGHTS)).fetchone()
    fault = "the service's role may change events" if row and row[0] else None
    return [Finding("the service can only add events", fault)]


async def _log(pool: Pool) -> list[Finding]:
    async with pool.connection() as db:
        row = await (await db.execute(POSITIONS)).fetchone()
    assert row is not None
    head, events, last = row
    fault = None if head == events == last else f"{events} events, last {last}"
    return [Finding(f"positions 1 to {head} without gaps", fault)]


async def _followers(pool: Pool) -> list[Finding]:
    async with pool.connection() as db:
        rows = await (await db.execute(FOLLOWERS)).fetchall()
    findings = []
    for name, lag, reason in rows:
        fault = f"stopped: {reason}" if reason else None
        if fault is None and lag > LAG_MAX:
            fault = f"{lag} events behind"
        findings.append(Finding(f"follower {name} keeps up", fault))
    return findings


async def _keys(pool: Pool, data_dir: Path, root: RootKeys | None) -> Finding:
    try:
        ring = KeyRing.load(data_dir / KEY_RING_FILE, root=root)
        await verify_canary(pool, ring)
    except (KeyRingError, WrongRootKeyError) as error:
        return Finding("the keys open what is sealed", str(error))
    return Finding("the keys open what is sealed")
