"""Run the official conformance suite against a URL, and read what it says."""

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.project import ROOT

# make conformance installs them, by the lock file in this folder.
MODULES: Final = ROOT / ".conformance" / "node_modules"
PROGRAM: Final = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NODE_MIN: Final = 22
_RESULTS: Final = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")

# (scenario, check): the worst of its statuses, for a check may be made many times.
Checks = Mapping[tuple[str, str], str]
WORST_FIRST: Final = ("FAILURE", "WARNING", "SKIPPED", "SUCCESS", "INFO")


@cache
def node() -> Path | None:
    """Return a Node.js that is new enough: that of the packages, or the machine's."""
    for found in [*MODULES.glob("node-*/bin/node"), shutil.which("node")]:
        if found is None:
            continue
        version = subprocess.run(
            [found, "--version"], check=True, capture_output=True, text=True
        )
        if int(version.stdout.removeprefix("v").partition(".")[0]) >= NODE_MIN:
            return Path(found)
    return None


async def run_suite(
    url: str, revision: str, results: Path, scenario: str | None = None
) -> Checks:
    """Run what a revision requires, or one scenario of it."""
    options = ["--url", url, "--output-dir", str(results)]
    if scenario is None:
        options += ["--requirements", revision]
    else:
        options += ["--scenario", scenario, "--spec-version", revision]
    process = await asyncio.create_subprocess_exec(
        str(node()),
        PROGRAM,
        "server",
        *options,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    checks = dict(_checks(results))
    # Its exit status is 1 where any check fails, as most of prompts do.
    assert checks, said.decode()[-2000:]
    return checks


def _checks(results: Path) -> Iterator[tuple[tuple[str, str], str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for file in results.glob("*/checks.json"):
        named = _RESULTS.fullmatch(file.parent.name)
        assert named is not None, file
        for check in json.loads(file.read_text()):
            found.setdefault((named[1], check["id"]), set()).add(check["status"])
    for key, statuses in found.items():
        yield key, min(statuses, key=WORST_FIRST.index)
