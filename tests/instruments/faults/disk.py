"""The disk is full, or breaks its promise to have written."""

import asyncio
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import psycopg

from service.embedded_postgres.server import EmbeddedPostgres
from tests.instruments.faults.stage import Stage
from tests.instruments.faults.tools import require, require_root
from tests.support.harness.process_tree import children

FILL_STEP = 1 << 20
REFILL_S = 0.2
SEGMENTS_MAX = 20
ATTACH_S = 1.0


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """Mount a file system of its own in memory.

    :raises MissingToolError: only root can
    """
    require_root()
    folder.mkdir()
    subprocess.run(
        [
            *(require("mount"), "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755"),
            *("faults", str(folder)),
        ],
        check=True,
    )
    try:
        yield folder
    finally:
        subprocess.run([require("umount"), "--lazy", str(folder)], check=True)


def move_wal(data: Path, disk: Path) -> None:
    """Put the write-ahead log of a new database on a disk of its own."""
    EmbeddedPostgres.start(data).stop()
    wal = data / "postgres" / "cluster" / "pg_wal"
    subprocess.run(["cp", "-a", str(wal), str(disk / "pg_wal")], check=True)
    shutil.rmtree(wal)
    wal.symlink_to(disk / "pg_wal")


async def full(stage: Stage, random: Random, disk: Path) -> None:
    """Fill a disk to its last byte, keep it full for some seconds, and free it."""
    stage.counts[f"disk full: {disk.name}"] += 1
    filler = disk / "filler"
    until = time.monotonic() + random.uniform(2, 4)
    try:
        while time.monotonic() < until:
            _fill(disk, filler)
            await asyncio.sleep(REFILL_S)
    finally:
        filler.unlink()


@contextmanager
def kept_full(disk: Path) -> Iterator[None]:
    """Fill a disk to its last byte, and free it in the end."""
    filler = disk / "filler"
    try:
        _fill(disk, filler)
        yield
    finally:
        filler.unlink()


async def full_of_wal(stage: Stage, random: Random, disk: Path) -> None:
    """As :func:`full`; what is preallocated is used up, so that it is felt at once."""
    filling = asyncio.create_task(full(stage, random, disk))
    await asyncio.sleep(REFILL_S)
    with suppress(psycopg.Error), psycopg.connect(stage.url, autocommit=True) as db:
        for _ in range(SEGMENTS_MAX):
            db.execute("SELECT pg_logical_emit_message(false, 'faults', 'next')")
            db.execute("SELECT pg_switch_wal()")
    await filling


def _fill(disk: Path, filler: Path) -> None:
    with suppress(OSError), filler.open("ab", buffering=0) as file:
        for step in (FILL_STEP, 4096):
            while shutil.disk_usage(disk).free >= step:
                file.write(bytes(step))


async def fsync_fails(stage: Stage, random: Random) -> None:
    """Answer every fsync of PostgreSQL's processes with EIO, for some time.

    It has to give up at once: what the kernel couldn't write it forgets, and a
    second fsync would lie. The postmaster isn't traced, so that it can recover.
    """
    stage.counts["fsync error"] += 1
    pids = [word for pid in children(stage.server.pid) for word in ("-p", str(pid))]
    with subprocess.Popen(  # noqa: ASYNC220 # started in an instant
        [
            *(require("strace"), "-qq", "-o", "/dev/null"),
            *("-e", "trace=fsync,fdatasync"),
            *("-e", "inject=fsync,fdatasync:error=EIO", *pids),
        ],
        stderr=subprocess.DEVNULL,
    ) as strace:
        try:
            await asyncio.sleep(ATTACH_S + random.uniform(0, 1))
        finally:
            strace.terminate()
