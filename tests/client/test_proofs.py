"""Checks of the audit log that the client makes itself."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import VerificationFailedError
from agent_runtime_client.proofs.checkpoint import Checkpoint, CheckpointError
from agent_runtime_client.proofs.export_check import check_export
from agent_runtime_client.proofs.merkle import (
    GrowingTree,
    root_by_inclusion,
    roots_by_consistency,
)
from service.resources import Resources
from tests.audit import rfc6962
from tests.audit.tampering import Signed, exported, sign

LEAVES = [rfc6962.leaf(bytes([number])) for number in range(40)]


@pytest.mark.parametrize("size", range(1, 40))
def test_inclusion_proofs_lead_to_the_root(size: int) -> None:
    leaves = LEAVES[:size]
    tree = GrowingTree()
    for leaf in leaves:
        tree.append(leaf)
    assert tree.root() == rfc6962.mth(leaves)
    for index in range(size):
        path = rfc6962.path(index, leaves)
        given: dict[str, Any] = {"index": index, "size": size, "path": path}
        assert root_by_inclusion(leaves[index], **given) == rfc6962.mth(leaves)
        assert root_by_inclusion(LEAVES[39], **given) != rfc6962.mth(leaves)
        longer: dict[str, Any] = {**given, "path": [*path, LEAVES[0]]}
        assert root_by_inclusion(leaves[index], **longer) is None


@pytest.mark.parametrize("second", range(1, 40))
def test_consistency_proofs_lead_to_both_roots(second: int) -> None:
    for first in range(1, second + 1):
        roots = rfc6962.mth(LEAVES[:first]), rfc6962.mth(LEAVES[:second])
        path = rfc6962.proof(first, LEAVES[:second]) if first < second else []
        given: dict[str, Any] = {"first": first, "second": second, "path": path}
        assert roots_by_consistency(roots[0], **given) == roots
        if first < second:
            other = (LEAVES[39], roots[1])
            assert roots_by_consistency(other[0], **given) != other
        longer: dict[str, Any] = {**given, "path": [*path, LEAVES[0]]}
        assert roots_by_consistency(roots[0], **longer) is None


@pytest.fixture
async def signed(
    runtime: AsyncAgentRuntime, resources: Resources, tmp_path: Path
) -> Signed:
    for number in range(9):
        await runtime.agents.create(f"agent-{number}")
    return await sign(resources, tmp_path)


def opened(signed: Signed) -> Checkpoint:
    return Checkpoint.open(signed.note, public_key=str(signed.key))


async def test_every_entry_is_verified(
    runtime: AsyncAgentRuntime, signed: Signed
) -> None:
    checkpoint = opened(signed)
    for position in range(1, checkpoint.size + 1):
        entry = await runtime.audit.verify(position, against=checkpoint)
        assert entry.position == position


async def test_an_entry_that_was_not_signed_is_found(
    runtime: AsyncAgentRuntime, signed: Signed
) -> None:
    other = replace(opened(signed), root=bytes(32))

    with pytest.raises(VerificationFailedError, match="position 3"):
        await runtime.audit.verify(3, against=other)
    with pytest.raises(VerificationFailedError, match="covers"):
        await runtime.audit.verify(other.size + 1, against=other)


async def test_the_log_has_only_grown(
    runtime: AsyncAgentRuntime, signed: Signed, resources: Resources, tmp_path: Path
) -> None:
    key = (await runtime.audit.get_checkpoint_key()).public_key
    earlier = opened(signed)
    await runtime.agents.create("later")
    later = await sign(resources, tmp_path)

    newest = await runtime.audit.verify_growth(since=earlier, public_key=key)
    assert newest == opened(later)
    with pytest.raises(VerificationFailedError):
        await runtime.audit.verify_growth(
            since=replace(earlier, root=bytes(32)), public_key=key
        )


async def test_checkpoints_are_read_from_a_file(signed: Signed, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text(signed.note + "\n" + signed.note)  # a test

    assert Checkpoint.load(file, public_key=str(signed.key)) == opened(signed)
    assert Checkpoint.parse(signed.note) == opened(signed)


@pytest.mark.parametrize(
    "tamper",
    [
        lambda note: note.replace("\n1", "\n2", 1),
        lambda note: note.partition("\n\n")[0] + "\n",
        lambda note: note.replace("— agent", "— other"),
        lambda _: "",
    ],
    ids=["another size", "no signature", "another signer", "empty"],
)
async def test_a_checkpoint_that_is_not_signed_is_refused(
    signed: Signed, tamper: Any
) -> None:
    with pytest.raises(CheckpointError):
        Checkpoint.open(tamper(signed.note), public_key=str(signed.key))


async def test_an_export_is_as_signed(signed: Signed, resources: Resources) -> None:
    lines = await exported(resources)
    size = opened(signed).size

    found = check_export(lines, [opened(signed)])

    assert (found.entries, found.proven, found.problem) == (size, size, None)


def changed(line: bytes) -> bytes:
    entry = json.loads(line)
    entry["state"] = entry["state"].replace("agent", "agend")
    return json.dumps(entry).encode()


@pytest.mark.parametrize(
    ("tamper", "position"),
    [
        (lambda lines: [*lines[:6], changed(lines[6]), *lines[7:]], 7),
        (lambda lines: [*lines[:6], *lines[7:]], 7),
        (lambda lines: lines[:-1], None),
        (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], 5),
        (lambda lines: [*lines[:4], b"{}", *lines[5:]], 5),
    ],
    ids=["changed", "removed", "cut off", "exchanged", "no entry"],
)
async def test_the_first_wrong_entry_of_an_export_is_named(
    signed: Signed, resources: Resources, tamper: Any, position: int | None
) -> None:
    lines = await exported(resources)

    found = check_export(tamper(lines), [opened(signed)])

    assert found.problem
    assert found.position == (position or len(lines))


async def test_a_tree_rewritten_with_the_log_is_found(
    signed: Signed, resources: Resources
) -> None:
    lines = await exported(resources)
    entry = json.loads(changed(lines[6]))
    del entry["leaf_hash"]
    forged = [*lines[:6], json.dumps(entry).encode(), *lines[7:]]

    found = check_export(forged, [opened(signed)])

    assert (found.position, found.until_position) == (1, len(lines))


async def test_contradicting_checkpoints_are_found(signed: Signed) -> None:
    checkpoint = opened(signed)

    found = check_export([], [checkpoint, replace(checkpoint, root=bytes(32))])

    assert "contradict" in str(found.problem)
    assert base64.b64encode(checkpoint.root).decode() in signed.note
