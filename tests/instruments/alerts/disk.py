"""The disk of the embedded PostgreSQL fills up."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from service.tasks import end_tasks
from tests.instruments.alerts.installation import Installation

LEFT: Final = 0.04
HOURS: Final = 8
STEP_S: Final = 0.5


@asynccontextmanager
async def almost_filled(service: Installation) -> AsyncIterator[None]:
    """Mended by deleting the file."""
    used = shutil.disk_usage(service.data)
    filler = service.data / "filler"
    reserve(filler, used.free - int(used.total * LEFT))
    try:
        yield
    finally:
        filler.unlink()


@asynccontextmanager
async def filled_slowly(service: Installation) -> AsyncIterator[None]:
    """Mended by deleting the file."""
    filler = service.data / "filler"
    growing = asyncio.create_task(_grow(filler, service))
    try:
        yield
    finally:
        await end_tasks(growing)
        filler.unlink()


async def _grow(filler: Path, service: Installation) -> None:
    total = shutil.disk_usage(service.data).total
    step = int(total / (HOURS * 3600 / service.scale) * STEP_S)
    size = 0
    while True:
        size += step
        reserve(filler, size)
        await asyncio.sleep(STEP_S)


def reserve(file: Path, size: int) -> None:
    """Take so many bytes of the disk, without writing them."""
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY)
    try:
        os.posix_fallocate(descriptor, 0, size)
    finally:
        os.close(descriptor)
