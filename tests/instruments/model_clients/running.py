"""Run a client as a process of its own, and return what it has said."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from tests.instruments.model_clients.ways import Place
from tests.support.project import ROOT

# make model-clients installs them, by the lock files in this folder.
INSTALLED: Final = ROOT / ".model-clients"
PYTHON: Final = INSTALLED / "python" / "bin" / "python"
PROGRAMS: Final = INSTALLED / "programs" / "node_modules" / ".bin"
TIMEOUT_S: Final = 600

Transcripts = dict[str, list[Any]]
QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}


async def python_client(
    name: str, places: Sequence[Place], folder: Path
) -> Transcripts:
    """Ask everywhere by one process: the imports take longer than all the rest."""
    module = "tests.instruments.model_clients.asking"
    given = json.dumps([asdict(each) for each in places])
    said = await said_by(
        [PYTHON, "-m", module, name], new_home(folder), given=given, folder=ROOT
    )
    found: Transcripts = json.loads(said.splitlines()[-1])
    return found


def new_home(folder: Path) -> Path:
    """Return an empty home, whose path a client may tell its model, at each run."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    return home


async def said_by(
    command: Sequence[str | Path],
    home: Path,
    settings: Mapping[str, str] = MappingProxyType({}),
    *,
    given: str = "",
    folder: Path | None = None,
) -> str:
    """Return a process's output; its errors are shown where it has none.

    Nothing of this process's environment is there, such as a provider's key.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder or home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), **QUIET, **settings},
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            said, errors = await process.communicate(given.encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    sys.stderr.write(errors.decode(errors="replace"))
    return said.decode()
