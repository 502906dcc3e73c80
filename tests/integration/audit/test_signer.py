"""The signer: its files, and what it refuses to sign."""

import asyncio
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_runtime_client.proofs.checkpoint import Checkpoint
from projections.audit.proofs.checkpoint_files import CheckpointFiles
from projections.audit.proofs.queries import latest_checkpoint
from projections.audit.proofs.sign import sign_checkpoint
from projections.audit.proofs.signer import (
    FORKED,
    CheckpointSigner,
    ContradictionError,
)
from projections.audit.proofs.signing_key import (
    SIGNING_KEY_FILE,
    load_or_create_signing_key,
)
from projections.engine.progress import wait_for_position
from service.cli.doctor import check_installation
from service.resources import Resources
from service.tasks import end_tasks
from tests.support.audit.tampering import (
    as_owner,
    change_epoch,
    record_epoch,
    rewrite_tree,
    sign,
)
from tests.support.callers import Callers
from tests.support.configured import configured
from tests.support.metrics import value_of
from tests.support.waiting import until

SIGNED = "checkpoints of the log are signed"
CHANGE = (
    "UPDATE events.stored_event SET state = state || '\\x20' WHERE notification_id = 2"
)


async def test_a_checkpoint_is_signed_once_and_written_to_files(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    signed = await sign(resources, tmp_path)

    again = await CheckpointSigner(resources.pool, tmp_path).sign()

    assert again is None
    files = {
        each.name: each.read_text() for each in (tmp_path / "checkpoints").iterdir()
    }
    epoch = (await resources.log.head()).epoch
    assert files.pop(f"latest.{epoch}") == signed.note
    assert files.pop(f"public-key.{epoch}") == f"{signed.key}\n"
    assert all(name.endswith(f".{epoch}") for name in files)
    assert [*files.values()] == [signed.note]


async def test_other_files_in_the_folder_are_left_alone(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    await sign(resources, tmp_path)
    (tmp_path / "checkpoints" / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    await callers.user("bob")

    assert (await sign(resources, tmp_path)).checkpoint.size == 4


async def test_a_fault_that_it_does_not_expect_is_shown_and_it_goes_on(
    callers: Callers,
    resources: Resources,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await callers.user("ada")
    await sign(resources, tmp_path)
    FORKED.set(0)

    def fail(*_: object) -> None:
        raise ArithmeticError

    signer = CheckpointSigner(resources.pool, tmp_path)
    with monkeypatch.context() as faulty:
        faulty.setattr(signer, "sign", fail)
        task = asyncio.create_task(signer.run(resources.log, interval_s=0.02))
        try:
            await until(lambda: value_of(FORKED) == 1)
            faulty.undo()
            await until(lambda: value_of(FORKED) == 0)
        finally:
            await end_tasks(task)

    [fault, *_] = [each for each in caplog.records if each.levelname == "ERROR"]
    assert fault.getMessage() == "can't sign checkpoints"
    assert fault.exc_info is not None
    assert fault.exc_info[0] is ArithmeticError


@pytest.mark.parametrize("damage", ["empty", "cut off", "no text", "a folder"])
async def test_signing_waits_until_the_last_checkpoint_is_readable(
    callers: Callers,
    resources: Resources,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: str,
) -> None:
    await callers.user("ada")
    signed = await sign(resources, tmp_path)
    await callers.user("bob")
    await wait_for_position(resources.pool, ["merkle_tree"], 4, timeout_s=60)
    epoch = (await resources.log.head()).epoch
    latest = tmp_path / "checkpoints" / f"latest.{epoch}"
    latest.unlink()
    damaged = {
        "empty": b"",
        "cut off": signed.note.encode()[:-9],
        "no text": b"\xff\xd8\xff",
    }
    if damage == "a folder":
        latest.mkdir()  # nobody can read that as a file, not even root
    else:
        latest.write_bytes(damaged[damage])
    FORKED.set(0)

    # given a signer that can't know what was signed last, then it signs nothing
    signer = CheckpointSigner(resources.pool, tmp_path)
    task = asyncio.create_task(signer.run(resources.log, interval_s=0.02))
    try:
        await until(lambda: value_of(FORKED) == 1)
        async with resources.pool.connection() as db:
            newest = await latest_checkpoint(db)
        assert newest is not None
        assert newest.note == signed.note
        assert latest.is_dir() or latest.read_bytes() == damaged[damage]

        # when somebody repairs it as documented, then it goes on
        latest.rmdir() if latest.is_dir() else latest.unlink()
        [of_day] = (tmp_path / "checkpoints").glob(f"2*.{epoch}")
        shutil.copy(of_day, latest)
        await until(lambda: value_of(FORKED) == 0)
    finally:
        await end_tasks(task)

    [said, *_] = [each for each in caplog.records if each.levelname == "CRITICAL"]
    assert said.getMessage().startswith("no checkpoint signed: ")
    assert str(latest) in said.getMessage()


async def test_nothing_is_signed_over_a_log_that_was_rewritten(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    await sign(resources, tmp_path)
    # The database forgets what was signed; the file doesn't.
    await as_owner(resources, CHANGE, "DELETE FROM events.checkpoint")
    await rewrite_tree(resources)
    await callers.user("bob")

    with pytest.raises(ContradictionError, match="has been changed"):
        await sign(resources, tmp_path)


async def test_nothing_is_signed_over_a_log_that_was_cut(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    await callers.user("bob")
    await sign(resources, tmp_path)
    await as_owner(
        resources,
        "DELETE FROM events.stored_event WHERE notification_id > 2",
        "UPDATE events.head SET position = 2",
    )
    await rewrite_tree(resources)

    with pytest.raises(ContradictionError, match="ends before position 4"):
        await CheckpointSigner(resources.pool, tmp_path).sign()


async def test_a_restored_log_is_another_tree(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    before = await sign(resources, tmp_path)
    epoch = await change_epoch(resources)
    await record_epoch(resources, tmp_path)
    after = await sign(resources, tmp_path)

    assert after.checkpoint.origin == f"agent-runtime/{epoch}"
    assert after.checkpoint.origin != before.checkpoint.origin
    assert after.checkpoint.size == before.checkpoint.size + 1
    assert after.key.public == before.key.public
    # What was signed before is evidence, and stays.
    kept = CheckpointFiles(tmp_path).of_every_epoch()
    assert kept[f"latest.{before.checkpoint.origin.split('/')[1]}"] == before.note
    assert kept[f"latest.{epoch}"] == after.note


async def test_what_was_signed_but_not_published_is_published(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    """As after a crash between the file and the database."""
    await callers.user("ada")
    signed = await sign(resources, tmp_path)
    await as_owner(resources, "DELETE FROM events.checkpoint")

    assert (await sign(resources, tmp_path)).note == signed.note


async def test_a_tree_that_is_behind_is_no_contradiction(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    signed = await sign(resources, tmp_path)
    signer = CheckpointSigner(resources.pool, tmp_path)
    beyond = Checkpoint(signed.checkpoint.origin, 3, bytes(32))
    key = load_or_create_signing_key(tmp_path / SIGNING_KEY_FILE)
    files = CheckpointFiles(tmp_path)
    files.keep(
        sign_checkpoint(beyond, key),
        str(signed.key),
        epoch=(await resources.log.head()).epoch,
        signed_at=datetime.now(UTC),
    )
    await as_owner(resources, "UPDATE events.head SET position = 3")
    try:
        assert await signer.sign() is None
    finally:
        await as_owner(resources, "UPDATE events.head SET position = 2")
    await wait_for_position(resources.pool, ["merkle_tree"], 2, timeout_s=60)


@pytest.mark.parametrize("where", ["the database", "its file"])
async def test_a_deleted_checkpoint_is_noticed_and_put_back(
    callers: Callers, resources: Resources, tmp_path: Path, where: str
) -> None:
    await callers.user("ada")
    await callers.user("bob")
    head = await resources.log.head()
    # With the whole log in the tree, nothing else is signed afterwards.
    tree = ["merkle_tree"]
    await wait_for_position(resources.pool, tree, head.position, timeout_s=60)
    signer = CheckpointSigner(resources.pool, tmp_path)
    assert await signer.sign() is not None
    latest = tmp_path / "checkpoints" / f"latest.{head.epoch}"
    note = latest.read_text()
    if where == "its file":
        latest.unlink()
    else:
        await as_owner(resources, "DELETE FROM events.checkpoint")

    running = asyncio.create_task(signer.run(resources.log, interval_s=0.05))
    said = await until(lambda: problem(callers))
    await end_tasks(running)

    assert said is not None
    assert f"was deleted from {where}, or changed there, and put back" in said
    assert latest.read_text() == note
    async with resources.pool.connection() as db:
        kept = await latest_checkpoint(db)
    assert kept is not None
    assert kept.note == note
    checks = await check_installation(
        configured(data_dir=str(tmp_path)), resources.database_url, None
    )
    (signing,) = [each for each in checks if each.name == SIGNED]
    assert signing.problem == said

    # Whoever has looked restarts the process.
    again = CheckpointSigner(resources.pool, tmp_path)
    running = asyncio.create_task(again.run(resources.log, interval_s=0.05))
    await until(lambda: is_ready(callers))
    await end_tasks(running)


async def test_what_cannot_be_signed_is_told_by_the_probe(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    await sign(resources, tmp_path)
    epoch = (await resources.log.head()).epoch
    (tmp_path / "checkpoints" / f"latest.{epoch}").write_text("damaged")

    signer = CheckpointSigner(resources.pool, tmp_path)
    running = asyncio.create_task(signer.run(resources.log, interval_s=0.05))
    said = await until(lambda: problem(callers))
    await end_tasks(running)

    assert said is not None
    assert said.startswith("no checkpoint signed: ")
    assert "holds no checkpoint" in said


async def problem(callers: Callers) -> str | None:
    """Return what keeps checkpoints from being signed, once that is degraded."""
    ready = (await callers.anonymous().get("/readyz")).data
    return ready["signing"] if ready["status"] == "degraded" else None


async def is_ready(callers: Callers) -> bool:
    ready = (await callers.anonymous().get("/readyz")).data
    return bool(ready["status"] == "ready" and ready["signing"] is None)
