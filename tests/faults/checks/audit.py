"""The audit's own proofs, by the commands that a reviewer would use."""

import subprocess
import sys
from pathlib import Path

from tests.faults.checks import Findings


def check_audit(url: str, data: Path, folder: Path, findings: Findings) -> None:
    """Export the log and hold it against every checkpoint that was ever signed."""
    export, checkpoints = folder / "export.jsonl", data / "checkpoints"
    _audit(["events", "--output", str(export)], url, data)
    verdict = _audit(
        [
            *("verify", str(export)),
            *("--public-key", str(checkpoints / "public-key")),
            *("--checkpoint", str(checkpoints / "latest")),
        ],
        url,
        data,
    )
    if verdict.returncode:
        findings.add(f"audit verify: {(verdict.stdout + verdict.stderr)[-400:]}")
    export.unlink(missing_ok=True)


def _audit(
    arguments: list[str], url: str, data: Path
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [
            *(sys.executable, "-m", "service", "audit", *arguments),
            *("--database-url", url, "--data-dir", str(data)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
