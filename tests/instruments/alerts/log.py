"""The event log and those that follow it are held up or tampered with."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from uuid import uuid4

from service.agents.aggregate import Agent
from service.embedded_postgres.server import DATABASE
from service.open_resources import open_resources
from tests.instruments.alerts.installation import Installation
from tests.instruments.bench.world import save

# Above what the rule allows, though the followers get no further than they were.
EVENTS: Final = 5500
AT_ONCE: Final = 500
LOCK: Final = "agent-runtime follower agents"
HOLDERS: Final = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
     WHERE locktype = 'advisory' AND pid <> pg_backend_pid() AND objsubid = 1
       AND (classid::bigint << 32) | objid::bigint = hashtextextended(%s, 0)
"""
TAKE: Final = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
AS_OWNER: Final = "ALTER TABLE events.stored_event DISABLE TRIGGER append_only"
AS_BEFORE: Final = "ALTER TABLE events.stored_event ENABLE TRIGGER append_only"
STATE: Final = "SELECT state FROM events.stored_event WHERE notification_id = 1"
CHANGE: Final = "UPDATE events.stored_event SET state = %s WHERE notification_id = 1"
AHEAD: Final = """
    UPDATE events.head SET recorded_at = clock_timestamp() + interval '100 seconds'
"""


@asynccontextmanager
async def event_refused(service: Installation) -> AsyncIterator[None]:
    """A projector that can't apply an event, mended as by a version that can."""
    with service.connect() as db:
        db.execute("ALTER TABLE read.agent ADD CHECK (name <> 'refused')")
        await service.admin.do("POST", "/api/catalog/agents", {"name": "refused"})
        yield
        db.execute("ALTER TABLE read.agent DROP CONSTRAINT agent_name_check")


@asynccontextmanager
async def lock_taken(service: Installation) -> AsyncIterator[None]:
    """As by the session of a machine that was lost; mended by ending it."""
    with service.connect() as db:
        while not db.execute(TAKE, [LOCK]).fetchall()[0][0]:
            db.execute(HOLDERS, [LOCK])
        await _write(service)
        yield


async def _write(service: Installation) -> None:
    manager = str(uuid4())
    assert service.url is not None
    async with open_resources(service.url, service.data) as resources:
        for _ in range(EVENTS // AT_ONCE):
            await save(
                resources,
                [
                    Agent(name=f"agent {n}", description="", manager_id=manager)
                    for n in range(AT_ONCE)
                ],
            )
            await asyncio.sleep(0)


@asynccontextmanager
async def head_set_ahead(service: Installation) -> AsyncIterator[None]:
    """As by a clock that was ahead; it ends when the time has come."""
    with service.connect() as db:
        db.execute(AHEAD)
    yield


@asynccontextmanager
async def event_changed(service: Installation) -> AsyncIterator[None]:
    """Mended by putting back what was changed."""
    with service.connect() as db:
        db.execute(AS_OWNER)
        [[state]] = db.execute(STATE).fetchall()
        db.execute(CHANGE, [state + b" "])
        yield
        db.execute(CHANGE, [state])
        db.execute(AS_BEFORE)


@asynccontextmanager
async def backup_restored(service: Installation) -> AsyncIterator[None]:
    """Restore a backup into a new database; nothing is left to mend."""
    backup = service.folder / "backup"
    await service.command("backup", str(backup))
    await service.stop()
    with service.connect("postgres") as db:
        db.execute(f"ALTER DATABASE {DATABASE} RENAME TO lost")
        db.execute(f"CREATE DATABASE {DATABASE}")
    await service.command("restore", str(backup))
    await service.start()
    yield
