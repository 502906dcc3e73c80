"""``agent-runtime audit``, as a process of its own."""

import asyncio
import os
import subprocess
import sys
from subprocess import CompletedProcess


async def audit(*arguments: str) -> "CompletedProcess[str]":
    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "service", "audit", *arguments],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
        check=False,
    )
