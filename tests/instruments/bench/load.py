"""Load over HTTP: wrk where it is installed, otherwise Python processes.

Closed loops: every connection sends its next request when it has its answer. For
latency at a given rate there is an open loop, in Python: requests are due at fixed
times, and a late one counts from when it was due.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LUA = Path(__file__).with_name("requests.lua")
THREADS = 2
CONNECTIONS = 64
# wrk takes a later answer for none.
TIMEOUT_S = 60
RESULT = re.compile(r"^result (\d+) (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)


class LoadError(Exception):
    """The load did not come about, or not every answer was a success."""


@dataclass(frozen=True, slots=True)
class Load:
    """What was reached; latencies in milliseconds."""

    requests: int
    rate: float
    p50_ms: float
    p99_ms: float


def closed_loop(
    url: str, plan: Path, *, seconds: float, connections: int = CONNECTIONS
) -> Load:
    if shutil.which("wrk") is None:
        return generated(url, plan, seconds=seconds, connections=connections)
    words = [f"-t{THREADS}", f"-c{connections}", f"-d{max(1, round(seconds))}s"]
    words += ["--timeout", f"{TIMEOUT_S}s"]
    script = ["-s", str(LUA), url, "--", str(plan), str(THREADS)]
    return _result(["wrk", *words, *script])


def generated(
    url: str,
    plan: Path,
    *,
    seconds: float,
    connections: int = CONNECTIONS,
    rate: float = 0,
) -> Load:
    """Load from one Python process; ``rate`` makes it an open loop."""
    return _result(
        [
            *(
                sys.executable,
                "-m",
                "tests.instruments.bench.generator",
                url,
                str(plan),
            ),
            *(str(seconds), str(connections), str(rate)),
        ]
    )


def _result(command: Sequence[str]) -> Load:
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = RESULT.search(run.stdout)
    if found is None:
        raise LoadError(f"{command[0]} failed: {run.stdout}{run.stderr}")
    requests, duration_us, failed, p50_us, p99_us = map(int, found.groups())
    if failed or not requests:
        raise LoadError(f"{failed} of {requests} requests failed")
    rate = requests / duration_us * 1e6
    return Load(requests, rate, p50_us / 1000, p99_us / 1000)
