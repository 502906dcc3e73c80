"""Checkpoints as files: the signer's own record, and what reviewers copy.

For each epoch of the log, whose id ends the names: ``latest.EPOCH`` is the newest one,
a file for each day (``2026-03-01.EPOCH``) the last of that day, and
``public-key.EPOCH`` what to check them with. Those of another epoch are never touched:
they are the evidence of what was signed before a restore.
"""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from uuid import UUID

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.note import NoteError, UnknownSignerError, VerifierKey

FOLDER = "checkpoints"
LATEST = "latest"
PUBLIC_KEY = "public-key"


class UnreadableCheckpointError(Exception):
    """What was signed last is in a file that can't be read."""


class DamagedCheckpointError(UnreadableCheckpointError):
    """The file can be read, but holds no checkpoint."""


class CheckpointFiles:
    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / FOLDER

    def latest(self, epoch: UUID, key: VerifierKey) -> Checkpoint | None:
        """Return the newest checkpoint of an epoch; None before the first.

        :raises UnknownSignerError: another key has signed it
        :raises DamagedCheckpointError: the file holds none
        :raises UnreadableCheckpointError: there is one, perhaps
        """
        path = self._folder / f"{LATEST}.{epoch}"
        try:
            return Checkpoint.open(path.read_text(encoding="utf-8"), [key])
        except FileNotFoundError:
            return None
        except UnknownSignerError:
            raise
        except (NoteError, UnicodeDecodeError) as error:
            raise DamagedCheckpointError(
                f"{path} holds no checkpoint: {error}"
            ) from error
        except OSError as error:
            raise UnreadableCheckpointError(
                f"can't read {path}: {error.strerror}"
            ) from error

    def of_every_epoch(self) -> Mapping[str, str]:
        """Return all checkpoints by file name, also those of earlier epochs."""
        if not self._folder.is_dir():
            return {}
        return {
            file.name: file.read_text(encoding="utf-8")
            for file in checkpoints_in(self._folder)
        }

    def keep(
        self, note: str, public_key: str, *, epoch: UUID, signed_at: datetime
    ) -> None:
        """Write a checkpoint and its key durably."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._replace(f"{PUBLIC_KEY}.{epoch}", public_key + "\n")
        self._replace(f"{signed_at:%Y-%m-%d}.{epoch}", note)
        self._replace(f"{LATEST}.{epoch}", note)

    def _replace(self, name: str, text: str) -> None:
        temporary = self._folder / f".{name}.{os.getpid()}"
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._folder / name)


def checkpoints_in(folder: Path) -> list[Path]:
    """Return the files of a folder except public keys and hidden files."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.is_file() and file.name.split(".")[0] not in ("", PUBLIC_KEY)
    )
