"""Entries, exports of them, and a reviewer who verifies these with checkpoints."""

import argparse
import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent_runtime_client.proofs.checkpoint import Checkpoint, origin_of
from agent_runtime_client.proofs.merkle import GrowingTree
from agent_runtime_client.proofs.note import VerifierKey
from projections.audit.entry_json import recorded
from projections.audit.proofs.leaf import hash_of
from projections.audit.proofs.sign import sign_checkpoint
from service.cli.audit_verify import verify_command
from service.config import Config
from service.event_log.stored_entries import StoredEntry
from tests.support.audit.ends import with_end


def entry(position: int, **other: Any) -> StoredEntry:
    columns: dict[str, Any] = {
        "position": position,
        "aggregate_id": UUID(int=position),
        "version": 1,
        "topic": "user.created",
        "state": b"{}",
        "recorded_at": datetime(2026, 3, 1, tzinfo=UTC),
        "command_id": UUID(int=100 + position),
        "metadata": "{}",
    }
    return StoredEntry(**{**columns, **other})


def members_of(entry: StoredEntry) -> dict[str, Any]:
    leaf = base64.b64encode(hash_of(entry)).decode()
    return {**recorded(entry), "leaf_hash": leaf}


def lines_of(entries: Sequence[StoredEntry]) -> list[bytes]:
    return [orjson.dumps(members_of(each)) + b"\n" for each in entries]


def signed(entries: Sequence[StoredEntry], size: int, epoch: UUID) -> Checkpoint:
    tree = GrowingTree()
    for each in entries[:size]:
        tree.append(hash_of(each))
    return Checkpoint(origin_of(epoch), size, tree.root())


class Reviewer:
    """Has checkpoints, all signed with one key."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], *kept: Checkpoint
    ) -> None:
        self._folder, self._capsys = folder, capsys
        self._key = Ed25519PrivateKey.generate()
        (folder / "checkpoints").mkdir()
        for number, each in enumerate(kept):
            path = folder / "checkpoints" / str(number)
            path.write_text(sign_checkpoint(each, self._key), encoding="utf-8")

    def verify(self, lines: Sequence[bytes], *epochs: UUID) -> tuple[int, list[str]]:
        """Verify entries with the keys of epochs; return the status and the words."""
        return self.verify_file(b"".join(with_end(lines)), *epochs)

    def verify_file(self, content: bytes, *epochs: UUID) -> tuple[int, list[str]]:
        export = self._folder / "export.jsonl"
        export.write_bytes(content)
        public = self._key.public_key().public_bytes_raw()
        options = argparse.Namespace(
            export=str(export),
            public_key=[str(VerifierKey(origin_of(each), public)) for each in epochs],
            checkpoint=[str(self._folder / "checkpoints")],
            earlier=None,
        )
        status = verify_command(Config.read({}, {}), options)
        return status, self._capsys.readouterr().out.splitlines()
