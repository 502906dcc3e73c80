"""``agent-runtime audit verify`` with the keys and checkpoints of two epochs."""

import json
from pathlib import Path
from typing import Final
from uuid import UUID

import orjson
import pytest

from agent_runtime_client.proofs.checkpoint import origin_of
from tests.unit.audit.reviewer import Reviewer, entry, lines_of, signed

A, B = UUID(int=1), UUID(int=2)
ENTRIES: Final = [entry(position) for position in range(1, 21)]


def changed(lines: list[bytes], position: int, leaf: str) -> list[bytes]:
    harmed = lines_of([entry(position, state=b'{"amount":1000000}')])[0]
    if leaf == "missing":
        members = orjson.loads(harmed)
        del members["leaf_hash"]
        harmed = orjson.dumps(members) + b"\n"
    elif leaf == "left":
        kept = orjson.loads(lines[position - 1])["leaf_hash"]
        harmed = orjson.dumps({**orjson.loads(harmed), "leaf_hash": kept}) + b"\n"
    return [*lines[: position - 1], harmed, *lines[position:]]


HARMED = {
    "leaf recomputed": changed(lines_of(ENTRIES), 15, "recomputed"),
    "leaf missing": changed(lines_of(ENTRIES), 15, "missing"),
    "leaf left": changed(lines_of(ENTRIES), 15, "left"),
    "cut": lines_of(ENTRIES[:12]),
}


@pytest.fixture
def reviewer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Reviewer:
    """Someone with the checkpoints of both epochs."""
    return Reviewer(tmp_path, capsys, signed(ENTRIES, 8, A), signed(ENTRIES, 20, B))


@pytest.mark.parametrize("harm", HARMED)
def test_an_earlier_epochs_key_doesnt_excuse_what_a_later_one_finds(
    reviewer: Reviewer, harm: str
) -> None:
    """A fail-over at position 10 lost nothing that was signed."""
    assert reviewer.verify(lines_of(ENTRIES), A, B)[0] == 0

    status, said = reviewer.verify(HARMED[harm], A, B)

    assert status == 1
    assert said[0].startswith("VERIFICATION FAILED: ")


@pytest.mark.parametrize("harm", HARMED)
def test_checkpoints_before_the_harm_are_said_to_agree(
    reviewer: Reviewer, harm: str
) -> None:
    status, said = reviewer.verify(HARMED[harm], B)

    assert status == 1
    assert said[-1] == (
        f"checkpoints of {origin_of(A)}, not of {origin_of(B)}: they agree with the"
        " first 8 entries, too"
    )


def test_a_harmed_export_is_no_reason_to_call_an_epoch_rewritten(
    reviewer: Reviewer,
) -> None:
    _, said = reviewer.verify(lines_of(ENTRIES[:5]), B)

    assert said[-1].endswith(
        "the log ends at position 5, but was signed up to 8: the"
        " missing entries were at the end, or from position 1 on"
    )


@pytest.mark.parametrize("is_recorded", [True, False])
def test_only_a_recorded_restore_excuses_an_earlier_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_recorded: bool
) -> None:
    lost = signed(ENTRIES, 20, A)
    change = {
        "old_epoch": str(A),
        "reason": "restore",
        "position": 12,
        "signed_size": 20,
        "signed_root": lost.encoded_root,
    }
    topic = "log.epoch_changed" if is_recorded else "user.created"
    restored = [
        *ENTRIES[:12],
        entry(13, topic=topic, state=json.dumps(change).encode()),
        *(entry(position, version=2) for position in range(14, 19)),
    ]
    reviewer = Reviewer(
        tmp_path, capsys, signed(ENTRIES, 8, A), lost, signed(restored, 18, B)
    )

    status, said = reviewer.verify(lines_of(restored), A, B)

    assert status == (0 if is_recorded else 1)
    other = "they agree with the first 8 entries only: a restore changed the epoch"
    assert any(other in each for each in said) is is_recorded
    assert reviewer.verify(lines_of(restored), B)[0] == 0
