"""The table of connectors' health, one row for each that was observed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from aiohttp import web
from psycopg.rows import class_row

from service.database import Pool

ASK = """
    INSERT INTO events.connector_health (connector_id, url, asked_at)
    VALUES (%(connector_id)s, %(url)s, %(at)s)
    ON CONFLICT (connector_id) DO UPDATE
       SET asked_at = excluded.asked_at
     WHERE connector_health.asked_at IS NULL
        OR connector_health.asked_at <= %(at)s - make_interval(secs => %(interval_s)s)
        OR connector_health.asked_at > %(at)s
    RETURNING true
"""
SUCCEEDED = """
    INSERT INTO events.connector_health (
           connector_id, url, attempted_at, succeeded_at, tools, left_out,
           left_out_names, error, next_at)
    VALUES (%(connector_id)s, %(url)s, %(at)s, %(at)s, %(tools)s, %(left_out)s,
           %(left_out_names)s, %(note)s, %(next_at)s)
    ON CONFLICT (connector_id) DO UPDATE
       SET url = excluded.url,
           attempted_at = excluded.attempted_at,
           succeeded_at = excluded.succeeded_at,
           tools = excluded.tools,
           left_out = excluded.left_out,
           left_out_names = excluded.left_out_names,
           failing_since = NULL,
           failures = 0,
           cause = NULL,
           error = excluded.error,
           next_at = coalesce(excluded.next_at, connector_health.next_at)
"""
# At another URL, what was known of the former one is not.
FAILED = """
    INSERT INTO events.connector_health AS h (
           connector_id, url, attempted_at, failing_since, failures, cause, error,
           next_at)
    VALUES (%(connector_id)s, %(url)s, %(at)s, %(at)s, 1, %(cause)s, %(error)s,
           %(next_at)s)
    ON CONFLICT (connector_id) DO UPDATE
       SET url = excluded.url,
           attempted_at = excluded.attempted_at,
           succeeded_at = CASE WHEN h.url = excluded.url THEN h.succeeded_at END,
           tools = CASE WHEN h.url = excluded.url THEN h.tools END,
           left_out = CASE WHEN h.url = excluded.url THEN h.left_out END,
           left_out_names = CASE WHEN h.url = excluded.url THEN h.left_out_names END,
           failing_since = CASE WHEN h.url = excluded.url
                                THEN coalesce(h.failing_since, excluded.failing_since)
                                ELSE excluded.failing_since END,
           failures = CASE WHEN h.url = excluded.url THEN h.failures ELSE 0 END + 1,
           cause = excluded.cause,
           error = excluded.error,
           next_at = coalesce(excluded.next_at, h.next_at)
"""
# Counted from one URL on: at another one, there is another server.
CREDENTIAL_RETURNED = """
    INSERT INTO events.connector_health AS h (
           connector_id, url, credential_url, credential_returned_at,
           credential_returns)
    VALUES (%(connector_id)s, %(url)s, %(url)s, %(at)s, %(answers)s)
    ON CONFLICT (connector_id) DO UPDATE
       SET credential_url = excluded.credential_url,
           credential_returned_at = CASE
               WHEN h.credential_url = excluded.credential_url
               THEN greatest(h.credential_returned_at, excluded.credential_returned_at)
               ELSE excluded.credential_returned_at END,
           credential_returns = excluded.credential_returns + CASE
               WHEN h.credential_url = excluded.credential_url
               THEN h.credential_returns ELSE 0 END
"""
SELECT = """
    SELECT url, attempted_at, succeeded_at, tools, left_out, left_out_names,
           failing_since, failures, cause, error, next_at, credential_url,
           credential_returned_at, credential_returns
      FROM events.connector_health
     WHERE connector_id = %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Succeeded:
    """An observation that listed tools; ``left_out_names`` are the first of them.

    ``next_at`` is null where this process doesn't schedule the next. ``note`` is what
    the owner is told instead of the number of tools, in words.
    """

    connector_id: UUID
    url: str
    at: datetime
    tools: int
    left_out: int
    left_out_names: Sequence[str]
    next_at: datetime | None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An observation that failed; ``error`` is why, in words."""

    connector_id: UUID
    url: str
    at: datetime
    cause: str
    error: str
    next_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialReturned:
    """So many ``answers`` held the credential of their requests, the last at ``at``."""

    connector_id: UUID
    url: str
    at: datetime
    answers: int


STATEMENTS: Final = {
    Succeeded: SUCCEEDED,
    Failed: FAILED,
    CredentialReturned: CREDENTIAL_RETURNED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRow:
    url: str
    attempted_at: datetime | None
    succeeded_at: datetime | None
    tools: int | None
    left_out: int | None
    left_out_names: list[str] | None
    failing_since: datetime | None
    failures: int
    cause: str | None
    error: str | None
    next_at: datetime | None
    credential_url: str | None
    credential_returned_at: datetime | None
    credential_returns: int


class HealthTable:
    """Reads and writes the health of connectors."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def ask(
        self, connector_id: UUID, url: str, *, at: datetime, interval_s: float
    ) -> bool:
        """Note that an observation is asked for; False: one was, too short ago."""
        async with self._pool.connection() as db:
            cursor = await db.execute(
                ASK,
                {
                    "connector_id": connector_id,
                    "url": url,
                    "at": at,
                    "interval_s": interval_s,
                },
            )
            return await cursor.fetchone() is not None

    async def note(self, noted: Succeeded | Failed | CredentialReturned) -> None:
        values = {name: getattr(noted, name) for name in noted.__slots__}
        async with self._pool.connection() as db:
            await db.execute(STATEMENTS[type(noted)], values)

    async def find(self, connector_id: UUID) -> HealthRow | None:
        async with (
            self._pool.connection() as db,
            db.cursor(row_factory=class_row(HealthRow)) as cursor,
        ):
            await cursor.execute(SELECT, [connector_id])
            return await cursor.fetchone()


CONNECTOR_HEALTH = web.AppKey("connector_health", HealthTable)
