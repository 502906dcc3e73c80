"""A new epoch of the log: its tree starts over, and an event records it."""

import asyncio
import time
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
from aiohttp.test_utils import TestClient

from projections.audit.proofs.checkpoint_files import UnreadableCheckpointError
from projections.audit.proofs.signer import CheckpointSigner
from projections.audit.proofs.table import grow_tree
from projections.engine import follower, prefetch, rebuild
from projections.engine.progress import wait_for_position
from service.audit.epoch_changes import CHANGED_AT
from service.cli.main import main
from service.database import Db
from service.resources import Resources
from tests.support.audit.ends import with_end
from tests.support.audit.tampering import (
    as_owner,
    exported,
    positions,
    record_epoch,
    sign,
)
from tests.support.callers import Callers
from tests.support.metrics import value_of
from tests.support.waiting import until

BATCH = 3
CHANGE = (
    "UPDATE events.stored_event SET recorded_at = recorded_at - interval '1 second'"
    " WHERE notification_id = 1"
)


async def test_the_tree_starts_over_in_batches(
    callers: Callers, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One statement over the whole log would exceed the follower's time limit."""
    for number in range(8):
        await callers.user(f"user{number}")
    events = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["merkle_tree"], events, timeout_s=60)
    for module, name in (
        (follower, "BATCH_EVENTS_MAX"),
        (prefetch, "BATCH_EVENTS_MAX"),
        (rebuild, "SWITCH_LAG_MAX"),
    ):
        monkeypatch.setattr(module, name, BATCH)
    sizes = [0]

    async def grow(db: Db, *, upto: int) -> None:
        await grow_tree(db, upto=upto)
        sizes.append(upto)

    monkeypatch.setattr("projections.audit.proofs.projector.grow_tree", grow)

    await as_owner(resources, "SELECT events.begin_epoch()")
    await callers.user("after")
    await wait_for_position(resources.pool, ["merkle_tree"], events + 2, timeout_s=60)

    steps = [after - before for before, after in pairwise(sizes)]
    assert sizes[-1] == events + 2
    assert max(steps) <= BATCH


async def end_epoch(resources: Resources, *, cut_to: int | None = None) -> UUID:
    """Begin another epoch, with the end of the log lost, and return the old one."""
    before = resources.log.epoch
    statements = ["SELECT events.begin_epoch()"]
    if cut_to is not None:
        statements = [
            f"DELETE FROM events.stored_event WHERE notification_id > {cut_to}",  # noqa: S608 # ours
            f"UPDATE events.head SET position = {cut_to}",  # noqa: S608 # ours
            *statements,
        ]
    await as_owner(resources, *statements)
    await until(lambda: resources.log.epoch != before)
    return before


async def last_state(resources: Resources) -> Any:
    return orjson.loads(orjson.loads((await exported(resources))[-1])["state"])


async def test_it_is_recorded_once_with_the_old_head(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    for number in range(4):
        await callers.user(f"user{number}")
    signed = await sign(resources, tmp_path)
    old = await end_epoch(resources, cut_to=5)

    await asyncio.gather(*(record_epoch(resources, tmp_path) for _ in range(5)))
    await record_epoch(resources, tmp_path)

    lines = await exported(resources)
    assert positions(lines) == [1, 2, 3, 4, 5, 6]
    recorded = orjson.loads(lines[-1])
    state = orjson.loads(recorded["state"])
    assert recorded["topic"] == "log.epoch_changed"
    assert recorded["actor"] == "system"
    assert state["old_epoch"] == str(old)
    assert state["new_epoch"] == str(resources.log.epoch) == recorded["aggregate_id"]
    assert (state["position"], state["reason"]) == (5, "restore")
    assert state["signed_size"] == signed.checkpoint.size
    assert state["signed_root"] == signed.checkpoint.encoded_root


async def test_no_checkpoint_of_an_epoch_comes_before_its_event(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    await callers.user("ada")
    await sign(resources, tmp_path)
    await end_epoch(resources)
    signer = CheckpointSigner(resources.pool, tmp_path)
    await callers.user("eve")
    before = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["merkle_tree"], before, timeout_s=60)

    assert await signer.sign() is None
    await record_epoch(resources, tmp_path)
    after = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["merkle_tree"], after, timeout_s=60)
    note = await signer.sign()

    assert after == before + 1
    assert note is not None
    assert int(note.splitlines()[1]) == after


async def test_the_newest_checkpoint_is_also_taken_from_the_files(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    """A restored database lacks those that were signed after the backup."""
    await callers.user("ada")
    signed = await sign(resources, tmp_path)
    await as_owner(resources, "DELETE FROM events.checkpoint")
    await end_epoch(resources)

    await record_epoch(resources, tmp_path)

    state = await last_state(resources)
    assert state["signed_root"] == signed.checkpoint.encoded_root


@pytest.mark.parametrize("damage", [b"", b"\xff\xd8\xff"], ids=["empty", "no text"])
async def test_a_damaged_file_of_the_old_epoch_does_not_stop_the_new_one(
    callers: Callers,
    resources: Resources,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: bytes,
) -> None:
    await callers.user("ada")
    signed = await sign(resources, tmp_path)
    old = await end_epoch(resources)
    latest = tmp_path / "checkpoints" / f"latest.{old}"
    latest.write_bytes(damage)

    await record_epoch(resources, tmp_path)

    # then the event has the checkpoint that the database kept
    state = await last_state(resources)
    assert state["old_epoch"] == str(old)
    assert state["signed_root"] == signed.checkpoint.encoded_root
    assert latest.read_bytes() == damage
    [said] = [each for each in caplog.records if str(latest) in each.getMessage()]
    assert said.levelname == "WARNING"


async def test_it_is_recorded_once_the_file_of_the_old_epoch_opens(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    """The file may be whole, and the event is written once."""
    await callers.user("ada")
    signed = await sign(resources, tmp_path)
    await as_owner(resources, "DELETE FROM events.checkpoint")
    latest = tmp_path / "checkpoints" / f"latest.{await end_epoch(resources)}"
    latest.unlink()
    latest.mkdir()

    with pytest.raises(UnreadableCheckpointError, match=str(latest)):
        await record_epoch(resources, tmp_path)
    latest.rmdir()
    latest.write_text(signed.note)
    await record_epoch(resources, tmp_path)

    state = await last_state(resources)
    assert state["signed_root"] == signed.checkpoint.encoded_root


async def test_without_a_checkpoint_it_is_recorded_too(
    callers: Callers, resources: Resources, tmp_path: Path, client: TestClient
) -> None:
    await callers.user("ada")
    await end_epoch(resources)

    await record_epoch(resources, tmp_path)

    state = await last_state(resources)
    assert state["signed_size"] is state["signed_root"] is None
    metrics = await (await client.get("/metrics")).text()
    assert "agent_runtime_log_epoch_changes 1.0" in metrics


async def test_metrics_say_when_the_last_change_was_recorded(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    """After a restart, too."""
    await callers.user("ada")
    before = time.time()
    await end_epoch(resources)
    await record_epoch(resources, tmp_path)
    recorded = value_of(CHANGED_AT)
    CHANGED_AT.set(0)

    await record_epoch(resources, tmp_path)

    assert before < value_of(CHANGED_AT) < time.time()
    assert recorded > before


async def test_verify_explains_an_earlier_epoch_by_the_event(
    callers: Callers,
    resources: Resources,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    await callers.user("ada")
    first = await sign(resources, tmp_path)
    await callers.user("bob")
    lost = await sign(resources, tmp_path)
    await end_epoch(resources, cut_to=first.checkpoint.size)
    await record_epoch(resources, tmp_path)
    await callers.user("eve")
    await sign(resources, tmp_path)

    said = await verify(resources, tmp_path, capsys)

    event = first.checkpoint.size + 1
    assert lost.checkpoint.size > first.checkpoint.size
    assert (
        f"a restore changed the epoch after position {first.checkpoint.size},"
        f" as entry {event} says" in said
    )


async def test_verify_doesnt_take_the_event_for_an_excuse(
    callers: Callers,
    resources: Resources,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An entry before the change was rewritten, which no restore does."""
    await callers.user("ada")
    await sign(resources, tmp_path)
    await as_owner(resources, CHANGE)
    await end_epoch(resources)
    await record_epoch(resources, tmp_path)
    await sign(resources, tmp_path)

    said = await verify(resources, tmp_path, capsys)

    assert "no change of the epoch explains it" in said


async def verify(
    resources: Resources, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> str:
    """Verify an export as the command does, with all checkpoints; return its words."""
    export = data_dir / "export.jsonl"
    export.write_bytes(b"".join(with_end(await exported(resources))))
    folder = data_dir / "checkpoints"
    key = folder / f"public-key.{resources.log.epoch}"
    main(
        [
            *("audit", "verify", str(export)),
            *("--public-key", str(key), "--checkpoint", str(folder)),
        ]
    )
    return capsys.readouterr().out
