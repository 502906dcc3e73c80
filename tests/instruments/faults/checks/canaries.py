"""No secret and no token is anywhere in clear text."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.instruments.faults.checks import Findings


def check_canaries(
    places: Sequence[Path], canaries: Sequence[str], findings: Findings
) -> None:
    """Search every byte of every file: logs, database files, Kafka's segments."""
    patterns = "\n".join(canaries)
    found = subprocess.run(
        ["grep", "-rlaF", "-e", patterns, "--", *map(str, places)],
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )
    if found.returncode not in (0, 1):
        findings.add(f"can't search for secrets: {found.stderr[:200]}")
    for file in found.stdout.splitlines():
        findings.add(f"a secret stands in clear text in {file}")
