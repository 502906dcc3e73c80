"""Verifying an export offline, as an auditor does."""

from pathlib import Path

from tests.support.harness.service import agent_runtime


def verify(export: Path, checkpoints: Path, *keys: Path) -> tuple[int, str]:
    options = [word for each in keys for word in ("--public-key", str(each))]
    done = agent_runtime(
        *("audit", "verify", str(export), *options, "--checkpoint", str(checkpoints))
    )
    return done.returncode, done.stdout + done.stderr
