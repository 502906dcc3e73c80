"""The audit's own proofs, by the commands that a reviewer would use."""

import shutil
from pathlib import Path

from tests.instruments.faults.checks import Findings
from tests.support.harness.service import agent_runtime


def check_audit(url: str, data: Path, folder: Path, findings: Findings) -> None:
    """Export the log and hold it against every checkpoint that was ever signed."""
    export, checkpoints = folder / "export.jsonl", folder / "checkpoints"
    # As they are before the export: later ones sign events that it doesn't have, such
    # as the one that records it.
    hidden = shutil.ignore_patterns(".*")
    shutil.copytree(data / "checkpoints", checkpoints, ignore=hidden)
    where = ("--database-url", url, "--data-dir", str(data))
    exported = agent_runtime("audit", "events", "--output", str(export), *where)
    if exported.returncode:
        findings.add(f"audit events: {(exported.stdout + exported.stderr)[-400:]}")
        shutil.rmtree(checkpoints)
        return
    verdict = agent_runtime(
        *("audit", "verify", str(export)),
        *(
            option
            for key in checkpoints.glob("public-key.*")
            for option in ("--public-key", str(key))
        ),
        *("--checkpoint", str(checkpoints)),
        *where,
    )
    if verdict.returncode:
        findings.add(f"audit verify: {(verdict.stdout + verdict.stderr)[-400:]}")
    export.unlink(missing_ok=True)
    shutil.rmtree(checkpoints)
