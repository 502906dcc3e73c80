"""Checkpoints as files: the signer's own record, and what reviewers copy.

``latest`` is the newest one, a file for each day (``2026-03-01``) the last of that
day, and ``public-key`` what to check them with.
"""

import os
from datetime import datetime
from pathlib import Path

FOLDER = "checkpoints"
LATEST = "latest"
PUBLIC_KEY = "public-key"


class CheckpointFiles:
    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / FOLDER

    def latest(self) -> str | None:
        """Return the newest checkpoint; None before the first."""
        try:
            return (self._folder / LATEST).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def keep(self, note: str, public_key: str, *, signed_at: datetime) -> None:
        """Write a checkpoint and its key durably."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._replace(PUBLIC_KEY, public_key + "\n")
        self._replace(f"{signed_at:%Y-%m-%d}", note)
        self._replace(LATEST, note)

    def _replace(self, name: str, text: str) -> None:
        temporary = self._folder / f"{name}.{os.getpid()}"
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._folder / name)
