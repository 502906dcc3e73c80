"""Run every check of this project, and say at the end what passed: ``make test-all``.

Each part is a target of the Makefile. A part that fails doesn't stop those after it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

PARTS: Final = (
    "check",
    "test",
    "test-thorough",
    "test-console",
    "test-openapi",
    "test-phoenix",
    "test-proxies",
    "test-deploy",
    "costs",
    "worst-inputs",
    "conformance",
    "model-clients",
    "faults",
    "alerts",
    "bench-check",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    part: str
    passed: bool
    seconds: float


def run(part: str) -> Outcome:
    print(f"\n===== make {part}", flush=True)
    began = time.monotonic()
    # What a test needs is an error where it is missing, not a reason to skip it.
    done = subprocess.run(["make", part], env={**os.environ, "CI": "true"}, check=False)
    return Outcome(part, done.returncode == 0, time.monotonic() - began)


def table(outcomes: Sequence[Outcome]) -> str:
    width = max(len(each.part) for each in outcomes)
    rows = [
        f"{each.part:{width}}  {'passed' if each.passed else 'FAILED':6}"
        f"  {each.seconds // 60:3.0f}:{each.seconds % 60:02.0f}"
        for each in outcomes
    ]
    return "\n".join(["", "===== all parts, with minutes and seconds", *rows])


def main(parts: Sequence[str]) -> int:
    """Return 1 if one has failed."""
    outcomes = [run(part) for part in parts]
    print(table(outcomes), flush=True)
    return int(not all(each.passed for each in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PARTS))
