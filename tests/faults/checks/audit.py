"""The audit's own proofs, by the commands that a reviewer would use."""

from pathlib import Path

from tests.faults.checks import Findings
from tests.harness.service import agent_runtime


def check_audit(url: str, data: Path, folder: Path, findings: Findings) -> None:
    """Export the log and hold it against every checkpoint that was ever signed."""
    export, checkpoints = folder / "export.jsonl", data / "checkpoints"
    where = ("--database-url", url, "--data-dir", str(data))
    exported = agent_runtime("audit", "events", "--output", str(export), *where)
    if exported.returncode:
        findings.add(f"audit events: {(exported.stdout + exported.stderr)[-400:]}")
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
