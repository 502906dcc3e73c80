"""``audit verify`` says where an export is wrong, whatever its lines hold."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from agent_runtime_client.proofs.export_end import end_line
from service.event_log.stored_entries import StoredEntry
from tests.unit.audit.reviewer import Reviewer, entry, lines_of, members_of, signed

EPOCH = UUID(int=7)
ENTRIES = 3
CHANGE = {
    "old_epoch": str(UUID(int=8)),
    "reason": "restore",
    "position": 1,
    "signed_size": None,
    "signed_root": None,
}
Verify = Callable[[Sequence[bytes]], tuple[int, list[str]]]
EPOCH_CHANGE = b'{"x":"log.epoch_changed"}\n'


@pytest.fixture
def entries() -> list[StoredEntry]:
    return [entry(position) for position in range(1, ENTRIES + 1)]


@pytest.fixture
def verify(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], entries: list[StoredEntry]
) -> Verify:
    """Verify lines with a checkpoint of the entries."""
    reviewer = Reviewer(tmp_path, capsys, signed(entries, len(entries), EPOCH))
    return lambda lines: reviewer.verify(lines, EPOCH)


@pytest.mark.parametrize(
    "appended", [b"", EPOCH_CHANGE, EPOCH_CHANGE[:-2], b'["log.epoch_changed"]\n']
)
def test_a_changed_entry_is_named_whatever_follows(
    verify: Verify,
    entries: list[StoredEntry],
    appended: bytes,
) -> None:
    changed = {**members_of(entries[1]), "state": '{"a":1}'}
    lines = lines_of(entries)
    lines[1] = orjson.dumps(changed) + b"\n"

    status, said = verify([*lines, appended])

    assert status == 1
    assert "the entry at position 2 is not the one recorded there" in said[0]


@pytest.mark.parametrize("appended", [EPOCH_CHANGE, EPOCH_CHANGE[:-2]])
def test_a_line_that_is_no_entry_is_named_behind_sound_ones(
    verify: Verify,
    entries: list[StoredEntry],
    appended: bytes,
) -> None:
    status, said = verify([*lines_of(entries), appended])

    assert status == 1
    assert "the line of position 4 is no entry" in said[0]
    assert "3 entries verified" in said


@pytest.mark.parametrize("genuine", [b"{}", b"\xff"], ids=["state", "state_base64"])
def test_a_line_with_two_states_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], genuine: bytes
) -> None:
    """Programs differ in which of both they read."""
    entries = [entry(1, state=genuine)]
    two = {"state": "EVIL", "state_base64": "RVZJTA=="} | members_of(entries[0])

    reviewer = Reviewer(tmp_path, capsys, signed(entries, 1, EPOCH))
    status, said = reviewer.verify([orjson.dumps(two) + b"\n"], EPOCH)

    assert status == 1
    assert "the line of position 1 is no entry" in said[0]


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
    verify: Verify,
    entries: list[StoredEntry],
    member: bytes,
) -> None:
    lines = lines_of(entries)
    name = member.partition(b":")[0].strip(b'"').decode()
    rest = {key: value for key, value in members_of(entries[1]).items() if key != name}
    lines[1] = orjson.dumps(rest)[:-1] + b"," + member + b"}\n"

    status, said = verify(lines)

    assert status == 1
    assert "position 2" in said[0]


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
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    entries: list[StoredEntry],
    state: bytes | dict[str, Any],
) -> None:
    """An attacker who owns the database may append what the service then signs."""
    if isinstance(state, dict):
        state = orjson.dumps({**CHANGE, **state})
    appended = entry(ENTRIES + 1, topic="log.epoch_changed", state=state)
    entries = [*entries, appended]
    reviewer = Reviewer(tmp_path, capsys, signed(entries, len(entries), EPOCH))

    assert reviewer.verify(lines_of(entries), EPOCH)[0] == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda lines: lines[:2], "the export was cut off behind position 2"),
        (
            lambda lines: [*lines[:2], lines[2][:99]],
            "the export was cut off behind position 2",
        ),
        (
            lambda lines: [*lines[:2], end_line(3)],
            "the export ends at position 2, and says",
        ),
        (lambda lines: [*lines, end_line(3), lines[2]], "was joined or shortened"),
    ],
    ids=["no end", "in a line", "of a longer one", "goes on"],
)
def test_an_export_that_is_not_whole_is_not_verified(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    entries: list[StoredEntry],
    content: Callable[[list[bytes]], list[bytes]],
    words: str,
) -> None:
    """Whatever passed it on; the log itself may be sound."""
    reviewer = Reviewer(tmp_path, capsys, signed(entries, 2, EPOCH))

    status, said = reviewer.verify_file(b"".join(content(lines_of(entries))), EPOCH)

    assert status == 2
    assert said[0].startswith("NOT WHOLE: ")
    assert words in said[0]
