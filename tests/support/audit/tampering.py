"""A signed log, exports of it, and what the owner of a database can do to both."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncConnection

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.export_check import ExportCheck, check_export
from agent_runtime_client.proofs.note import VerifierKey
from projections.audit.proofs.projector import MerkleTreeProjector
from projections.audit.proofs.queries import latest_checkpoint, leaves_known
from projections.audit.proofs.signer import CheckpointSigner
from projections.audit.trail.export import export
from projections.audit.trail.filters import TrailQuery, filters_of
from projections.catalog import follower_conninfo
from projections.engine.progress import wait_for_position
from projections.engine.rebuild import rebuild
from service.audit.epoch_changes import record_epoch_changes
from service.cli.audit import reading_database
from service.resources import Resources
from tests.support.audit.ends import with_end, without_end
from tests.support.waiting import until

# Not deleted: the follower, which runs, would begin anew at 0, and a rebuild goes only
# as far as a follower of the same definition is.
FORGET = "UPDATE read.position SET definition = '' WHERE follower = 'merkle_tree'"
OWNER = "ALTER TABLE events.stored_event DISABLE TRIGGER append_only"


@dataclass(frozen=True, slots=True)
class Signed:
    """A checkpoint as a reviewer has copied it, with its key."""

    note: str
    key: VerifierKey

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint.open(self.note, [self.key])


async def sign(resources: Resources, data_dir: Path) -> Signed:
    """Wait until the tree holds the whole log, and sign it."""
    head = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["merkle_tree"], head, timeout_s=60)
    await CheckpointSigner(resources.pool, data_dir).sign()
    async with resources.pool.connection() as db:
        signed = await latest_checkpoint(db)
    assert signed is not None
    assert signed.size == head
    return Signed(signed.note, VerifierKey.parse(signed.public_key))


async def exported(resources: Resources) -> list[bytes]:
    """Export everything as the command does, and return the lines of the entries."""
    async with reading_database(resources.database_url) as db:
        row = await (
            await db.execute("SELECT max(notification_id) FROM events.stored_event")
        ).fetchone()
        assert row is not None
        filters = await filters_of(db, TrailQuery(), last=row[0])
        lines = [
            each.lines
            async for each in export(
                lambda: _lend(db),
                resources.log.mapper,
                filters,
                "jsonl",
                leaves_known,
            )
        ]
    return without_end(b"".join(lines).splitlines(keepends=True))


class _lend:  # noqa: N801 # a context manager, named as the function it stands for
    def __init__(self, db: AsyncConnection[Any]) -> None:
        self._db = db

    async def __aenter__(self) -> AsyncConnection[Any]:
        return self._db

    async def __aexit__(self, *_: object) -> None:
        return None


async def as_owner(resources: Resources, *statements: str) -> None:
    """Do what the owner of the database can: everything."""
    async with await AsyncConnection.connect(
        resources.database_url, autocommit=True
    ) as db:
        await db.execute(OWNER)
        for statement in statements:
            await db.execute(statement)


async def change_epoch(resources: Resources) -> UUID:
    """Let another epoch begin; return it when the tree is its."""
    await as_owner(resources, "UPDATE events.head SET epoch = gen_random_uuid()")
    epoch = (await resources.log.head()).epoch
    query = "SELECT FROM read.position WHERE follower = 'merkle_tree' AND epoch = %s"

    async def is_followed() -> bool:
        async with resources.pool.connection() as db:
            return (await db.execute(query, [epoch])).rowcount == 1

    await until(is_followed)
    return epoch


async def record_epoch(resources: Resources, data_dir: Path) -> None:
    """Record the change of the epoch, as the service does."""
    signer = CheckpointSigner(resources.pool, data_dir)
    await record_epoch_changes(resources.log, resources.pool, signer.newest_of)


async def rewrite_tree(resources: Resources) -> None:
    """Build the tree anew over whatever the log says now."""
    async with await AsyncConnection.connect(
        follower_conninfo(resources.database_url), autocommit=True
    ) as db:
        await db.execute(FORGET)
    await as_owner(
        resources,
        "TRUNCATE events.merkle_node",
        "UPDATE events.merkle_tree SET size = 0",
    )
    conninfo = follower_conninfo(resources.database_url)
    await rebuild(conninfo, resources.log.mapper, MerkleTreeProjector())


def verified(lines: Iterable[bytes], *signed: Signed, **more: Any) -> ExportCheck:
    """Verify an export that has these lines and an end."""
    checkpoints = [each.checkpoint for each in signed]
    return check_export(with_end(lines), checkpoints, **more)


def positions(lines: Iterable[bytes]) -> list[int]:
    return [orjson.loads(line)["position"] for line in lines]
