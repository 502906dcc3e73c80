"""PostgreSQL is frozen, locked by a session, or slow."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import aiohttp

from tests.instruments.alerts.installation import LIST, Installation
from tests.instruments.faults.tools import require
from tests.support.harness.process import Process
from tests.support.harness.process_tree import children

READERS: Final = 30
FLUSH_US: Final = 50_000


def _send_all(service: Installation, number: signal.Signals) -> None:
    assert service.postgres is not None
    for pid in (service.postgres.pid, *children(service.postgres.pid)):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@asynccontextmanager
async def frozen(service: Installation) -> AsyncIterator[None]:
    _send_all(service, signal.SIGSTOP)
    try:
        yield
    finally:
        _send_all(service, signal.SIGCONT)


@asynccontextmanager
async def table_locked(service: Installation) -> AsyncIterator[None]:
    """Mended by ending the session, as of any slow statement."""
    with service.connect() as db:
        db.execute("SET idle_in_transaction_session_timeout = 0")
        reading = [asyncio.create_task(_read(service)) for _ in range(READERS)]
        try:
            with db.transaction():
                db.execute("LOCK TABLE read.connector IN ACCESS EXCLUSIVE MODE")
                yield
        finally:
            for each in reading:
                each.cancel()
            await asyncio.gather(*reading, return_exceptions=True)


async def _read(service: Installation) -> None:
    while True:
        with suppress(aiohttp.ClientError):
            await service.admin.call("GET", LIST)


@asynccontextmanager
async def slow_disk(service: Installation) -> AsyncIterator[None]:
    assert service.postgres is not None
    strace = Process(
        [
            *(require("strace"), "-f", "-qq", "-o", "/dev/null"),
            *("-e", "trace=fsync,fdatasync"),
            *("-e", f"inject=fsync,fdatasync:delay_exit={FLUSH_US}"),
            *(
                word
                for pid in (service.postgres.pid, *children(service.postgres.pid))
                for word in ("-p", str(pid))
            ),
        ],
        service.folder / "strace",
    )
    strace.start()
    try:
        yield
    finally:
        strace.stop()
