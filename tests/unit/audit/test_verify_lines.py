"""``audit verify`` says where an export is wrong, whatever its lines hold."""

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

EPOCH = UUID(int=7)
ENTRIES = 3
CHANGE = {
    "old_epoch": str(UUID(int=8)),
    "reason": "restore",
    "position": 1,
    "signed_size": None,
    "signed_root": None,
}
EPOCH_CHANGE = b'{"x":"log.epoch_changed"}\n'


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


class Reviewer:
    """Has a checkpoint of some entries, and verifies exports with it."""

    def __init__(self, folder: Path, entries: Sequence[StoredEntry]) -> None:
        self._folder = folder
        tree = GrowingTree()
        for each in entries:
            tree.append(hash_of(each))
        key, origin = Ed25519PrivateKey.generate(), origin_of(EPOCH)
        note = sign_checkpoint(Checkpoint(origin, tree.size, tree.root()), key)
        (folder / "checkpoint").write_text(note, encoding="utf-8")
        self._public = VerifierKey(origin, key.public_key().public_bytes_raw())

    def verify(self, lines: Sequence[bytes]) -> int:
        export = self._folder / "export.jsonl"
        export.write_bytes(b"".join(lines))
        options = argparse.Namespace(
            export=str(export),
            public_key=[str(self._public)],
            checkpoint=[str(self._folder / "checkpoint")],
            earlier=None,
        )
        return verify_command(Config.read({}, {}), options)


@pytest.fixture
def entries() -> list[StoredEntry]:
    return [entry(position) for position in range(1, ENTRIES + 1)]


@pytest.fixture
def reviewer(tmp_path: Path, entries: list[StoredEntry]) -> Reviewer:
    return Reviewer(tmp_path, entries)


@pytest.mark.parametrize(
    "appended", [b"", EPOCH_CHANGE, EPOCH_CHANGE[:-2], b'["log.epoch_changed"]\n']
)
def test_a_changed_entry_is_named_whatever_follows(
    reviewer: Reviewer,
    entries: list[StoredEntry],
    capsys: pytest.CaptureFixture[str],
    appended: bytes,
) -> None:
    changed = {**members_of(entries[1]), "state": '{"a":1}'}
    lines = lines_of(entries)
    lines[1] = orjson.dumps(changed) + b"\n"

    assert reviewer.verify([*lines, appended]) == 1

    said = capsys.readouterr().out
    assert "the entry at position 2 is not the one recorded there" in said


@pytest.mark.parametrize("appended", [EPOCH_CHANGE, EPOCH_CHANGE[:-2]])
def test_a_line_that_is_no_entry_is_named_behind_sound_ones(
    reviewer: Reviewer,
    entries: list[StoredEntry],
    capsys: pytest.CaptureFixture[str],
    appended: bytes,
) -> None:
    assert reviewer.verify([*lines_of(entries), appended]) == 1

    said = capsys.readouterr().out
    assert "the line of position 4 is no entry" in said
    assert "3 entries verified" in said


@pytest.mark.parametrize("genuine", [b"{}", b"\xff"], ids=["state", "state_base64"])
def test_a_line_with_two_states_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], genuine: bytes
) -> None:
    """Programs differ in which of both they read."""
    entries = [entry(1, state=genuine)]
    two = {"state": "EVIL", "state_base64": "RVZJTA=="} | members_of(entries[0])

    assert Reviewer(tmp_path, entries).verify([orjson.dumps(two) + b"\n"]) == 1

    assert "the line of position 1 is no entry" in capsys.readouterr().out


@pytest.mark.parametrize(
    "member",
    [
        b'"leaf_hash":"a"',
        b'"leaf_hash":5',
        b'"leaf_hash":["a"]',
        '"leaf_hash":"é"'.encode(),
        b'"topic":"\\ud800"',
        b'"metadata":"\\ud800"',
        b'"state":"\\ud800"',
        b'"recorded_at":"0001-01-01T00:00:00+23:59"',
    ],
)
def test_a_member_that_no_export_has_makes_the_line_wrong(
    reviewer: Reviewer,
    entries: list[StoredEntry],
    capsys: pytest.CaptureFixture[str],
    member: bytes,
) -> None:
    lines = lines_of(entries)
    name = member.partition(b":")[0].strip(b'"').decode()
    rest = {key: value for key, value in members_of(entries[1]).items() if key != name}
    lines[1] = orjson.dumps(rest)[:-1] + b"," + member + b"}\n"

    assert reviewer.verify(lines) == 1

    assert "position 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    "state",
    [
        b"no JSON",
        b"[]",
        b"{}",
        b"[" * 100_000,
        orjson.dumps(CHANGE).replace(b'"position":1', b'"position":1e999'),
        {"old_epoch": "x"},
        {"old_epoch": 5},
        {"position": None},
        {"position": "x", "reason": []},
    ],
    ids=range(9),
)
def test_a_malformed_change_of_the_epoch_explains_nothing(
    tmp_path: Path, entries: list[StoredEntry], state: bytes | dict[str, Any]
) -> None:
    """Whoever owns the database may append what the service then signs."""
    if isinstance(state, dict):
        state = orjson.dumps({**CHANGE, **state})
    appended = entry(ENTRIES + 1, topic="log.epoch_changed", state=state)
    reviewer = Reviewer(tmp_path, [*entries, appended])

    assert reviewer.verify(lines_of([*entries, appended])) == 0
