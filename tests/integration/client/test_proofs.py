"""Checks of the audit log that the client makes itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import VerificationFailedError
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.note import NoteError, VerifierKey
from service.resources import Resources
from tests.support.audit.tampering import Signed, sign


@pytest.fixture
async def signed(
    runtime: AsyncAgentRuntime, resources: Resources, tmp_path: Path
) -> Signed:
    for number in range(9):
        await runtime.agents.create(f"agent-{number}")
    return await sign(resources, tmp_path)


def opened(signed: Signed) -> Checkpoint:
    return Checkpoint.open(signed.note, [signed.key])


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


async def test_a_file_without_a_checkpoint_is_refused(
    signed: Signed, tmp_path: Path
) -> None:
    file = tmp_path / "empty"
    file.write_text("\n")  # a test

    with pytest.raises(NoteError, match="has no checkpoint"):
        Checkpoint.load(file, public_key=str(signed.key))


async def test_the_key_of_another_log_is_refused(
    signed: Signed, tmp_path: Path
) -> None:
    file = tmp_path / "kept"
    file.write_text(signed.note)  # a test
    other = VerifierKey("another", signed.key.public)

    with pytest.raises(NoteError, match="no known key"):
        Checkpoint.load(file, public_key=str(other))
