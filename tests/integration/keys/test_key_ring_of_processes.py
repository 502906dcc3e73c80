"""Processes that start at once get the same key ring."""

import asyncio
import sys
from pathlib import Path

CREATE_RING = """
import pathlib, sys
from service.keys.key_ring import KeyRing
ring = KeyRing.load_or_create(pathlib.Path(sys.argv[1]))
print(ring.primary_id, ring.purpose_check().hex())
"""


async def test_processes_that_start_at_once_get_the_same_ring(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CREATE_RING, str(tmp_path / "keys.json")]
    started = [
        await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        for _ in range(4)
    ]
    outputs = {(await process.communicate())[0] for process in started}
    assert len(outputs) == 1
    assert outputs.pop().startswith(b"k-")
