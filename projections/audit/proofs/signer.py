"""Sign the tree's head periodically, and never two heads that contradict each other."""

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import psycopg
from prometheus_client import Gauge

from agent_runtime_client.proofs.checkpoint import Checkpoint, origin_of
from agent_runtime_client.proofs.note import (
    NoteError,
    UnknownSignerError,
    VerifierKey,
)
from projections.audit.proofs.checkpoint_files import (
    CheckpointFiles,
    DamagedCheckpointError,
    UnreadableCheckpointError,
)
from projections.audit.proofs.contradictions import (
    contradictions_between,
    described,
    known_contradiction,
)
from projections.audit.proofs.queries import (
    epoch,
    is_epoch_change_within,
    latest_checkpoint,
    notes_of,
    roots,
)
from projections.audit.proofs.sign import sign_checkpoint
from projections.audit.proofs.signer_problems import note_problem
from projections.audit.proofs.signing_key import (
    SIGNING_KEY_FILE,
    load_or_create_signing_key,
)
from projections.audit.proofs.table import IncompleteTreeError
from projections.engine.snapshot import snapshot_of
from service.audit.epoch_changes import record_epoch_changes
from service.database import Db, Pool
from service.errors import ServiceError
from service.event_log.protocol import CommandLog
from service.outages import Outage, cause_of
from service.tasks import end_tasks

INTERVAL_S = 5.0
FOLLOWER = "merkle_tree"
# Compared with the tree before a checkpoint is signed; older ones are compared by the
# background check.
NEW_POSITIONS_MAX = 5000
OTHER_KEY = "a checkpoint was signed with another key than ours"
KEEP = "SELECT events.keep_checkpoint(%s, %s, %s)"
SIZE = Gauge(
    "agent_runtime_checkpoint_position",
    "Last position that a checkpoint covers, signed by this process.",
)
FORKED = Gauge(
    "agent_runtime_checkpoint_contradicted",
    "1 while no checkpoint is signed: the event log contradicts a signed one or its "
    "Merkle tree, or signing fails for a reason that doesn't pass by itself. The "
    "service's log says which.",
)
DELETED = Gauge(
    "agent_runtime_checkpoint_deleted",
    "1 once the newest checkpoint was missing from the database or the data folder, "
    "and was put back; until a restart.",
)

logger = logging.getLogger(__name__)


class ContradictionError(Exception):
    """The log does not extend a log whose checkpoint was signed."""


class _Published(NamedTuple):
    """The checkpoint that this process has saved last."""

    epoch: UUID
    size: int
    note: str
    public_key: str


class CheckpointSigner:
    """Signs the tree's head, after checking it against earlier checkpoints."""

    def __init__(self, pool: Pool, data_dir: Path) -> None:
        self._pool = pool
        self._files = CheckpointFiles(data_dir)
        self._private = load_or_create_signing_key(data_dir / SIGNING_KEY_FILE)
        self._published: _Published | None = None
        self._deleted: str | None = None
        self._outage = Outage()

    def public_key(self, log_epoch: UUID) -> VerifierKey:
        public = self._private.public_key().public_bytes_raw()
        return VerifierKey(origin_of(log_epoch), public)

    async def run(self, log: CommandLog, interval_s: float = INTERVAL_S) -> None:
        """Sign until cancelled, whenever the tree has grown.

        A change of the log epoch is appended to the log first, with the newest
        checkpoint of the old epoch, so that it is signed, too.
        """
        while True:
            try:
                await record_epoch_changes(log, self._pool, self.newest_of)
                await self.sign()
                await self._note(self._deleted)
                FORKED.set(0)
                self._outage.has_ended()
            except (
                ContradictionError,
                IncompleteTreeError,
                UnreadableCheckpointError,
            ) as error:
                FORKED.set(1)
                logger.critical("no checkpoint signed: %s", error)
                await self._note(f"no checkpoint signed: {error}")
            except (psycopg.Error, ServiceError, OSError) as error:
                level = self._outage.level(cause_of(error))
                logger.log(level, "can't sign a checkpoint", exc_info=error)
            except Exception:
                FORKED.set(1)
                logger.exception("can't sign checkpoints")
                await self._note("can't sign checkpoints: the service's log says why")
            await asyncio.sleep(interval_s)

    async def _note(self, problem: str | None) -> None:
        public = self._private.public_key().public_bytes_raw()
        try:
            async with self._pool.connection() as db:
                await note_problem(db, base64.b64encode(public).decode(), problem)
        except psycopg.Error:
            logger.warning("can't note the state of the signer", exc_info=True)

    async def sign(self) -> str | None:
        """Sign the tree's head; None when it is signed already.

        The first checkpoint of an epoch waits for the event that records its begin.
        The events since the last checkpoint are compared with the tree first.

        :raises ContradictionError: the log was rewritten, or cut
        :raises UnreadableCheckpointError: what was signed last isn't known
        :raises UnavailableError: there is no tree yet
        """
        async with snapshot_of(self._pool, FOLLOWER) as snapshot:
            size, db = snapshot.position, snapshot.db
            log_epoch = await epoch(db)
            kept = await latest_checkpoint(db)
            key = self.public_key(log_epoch)
            in_database = self._opened([kept.note] if kept else [], key)
            in_file = self._in_file(log_epoch, key)
            signed = [*in_database, *in_file]
            past = [each for each in signed if each.size <= size]
            await _require_same_log(
                db, max((each.size for each in past), default=0), size
            )
            is_complete = await is_epoch_change_within(db, log_epoch, size)
            root, *then = await roots(db, size, *(each.size for each in past))
        for each, was in zip(past, then, strict=True):
            if each.root != was:
                raise ContradictionError(
                    f"the log at positions 1 to {each.size} has been changed"
                )
        await self._refuse_shorter_log(signed, size)
        is_kept = kept is not None and (
            # Another process's, or ours as we signed it.
            kept.public_key != str(key) or bool(in_database)
        )
        kept_size = kept.size if kept is not None and is_kept else 0
        await self._put_back_deleted(log_epoch, kept_size, in_file)
        if size == 0 or not is_complete or (kept and kept.size >= size):
            return None
        note = sign_checkpoint(Checkpoint(key.name, size, root), self._private)
        await self._publish(_Published(log_epoch, size, note, str(key)))
        return note

    async def _put_back_deleted(
        self, log_epoch: UUID, kept_size: int, in_file: Sequence[Checkpoint]
    ) -> None:
        """Put the checkpoint that this process has published last where it was."""
        last = self._published
        if last is None or last.epoch != log_epoch:
            return
        sizes = {
            "the database": kept_size,
            "its file": max((each.size for each in in_file), default=0),
        }
        missing = [where for where, size in sizes.items() if size < last.size]
        if not missing:
            return
        self._deleted = (
            f"the checkpoint of position {last.size} was deleted from "
            f"{' and '.join(missing)}, or changed there, and put back: find out who "
            "did it, compare the others with copies, then restart this process"
        )
        DELETED.set(1)
        logger.critical("%s", self._deleted)
        await self._publish(last)

    async def newest_of(self, log_epoch: UUID) -> tuple[int, str] | None:
        """Return size and root (base64) of the newest checkpoint of any epoch.

        A damaged file of an earlier epoch is left out: the new one goes on.

        :raises UnreadableCheckpointError: the file can't be opened, but may be whole
        """
        async with self._pool.connection() as db:
            notes = await notes_of(db, log_epoch)
        key = self.public_key(log_epoch)
        signed = self._opened(notes, key)
        try:
            signed += self._in_file(log_epoch, key)
        except DamagedCheckpointError as error:
            logger.warning("left out of an earlier epoch's checkpoints: %s", error)
        newest = max(signed, key=lambda each: each.size, default=None)
        return (newest.size, newest.encoded_root) if newest else None

    def _opened(self, notes: Sequence[str], key: VerifierKey) -> list[Checkpoint]:
        """Return the checkpoints that were signed with our key."""
        signed = []
        for note in notes:
            try:
                signed.append(Checkpoint.open(note, [key]))
            except NoteError:
                logger.warning(OTHER_KEY)
        return signed

    def _in_file(self, log_epoch: UUID, key: VerifierKey) -> list[Checkpoint]:
        """Return the newest checkpoint of this process and those before, if any.

        :raises UnreadableCheckpointError: the file can't be read, or holds none
        """
        try:
            newest = self._files.latest(log_epoch, key)
        except UnknownSignerError:
            logger.warning(OTHER_KEY)
            return []
        return [newest] if newest else []

    async def _refuse_shorter_log(
        self, signed: Sequence[Checkpoint], size: int
    ) -> None:
        """Tell a tree that is behind from a log that was cut."""
        longest = max((each.size for each in signed), default=0)
        if longest <= size:
            return
        async with self._pool.connection() as db:
            row = await (
                await db.execute("SELECT position FROM events.head")
            ).fetchone()
        if row is None or row[0] < longest:
            raise ContradictionError(f"the log ends before position {longest}")

    async def _publish(self, signed: _Published) -> None:
        """Save a checkpoint, to the files first: no signed head may be lost."""
        now = datetime.now(UTC)
        epoch_, size, note, public_key = signed
        self._files.keep(note, public_key, epoch=epoch_, signed_at=now)
        async with self._pool.connection() as db, db.transaction():
            await db.execute(KEEP, [size, note, public_key])
        SIZE.set(size)
        self._published = signed


async def _require_same_log(db: Db, after: int, size: int) -> None:
    """Refuse to sign a tree whose log has other events than it was built over.

    :raises ContradictionError: at positions that it names
    """
    known = await known_contradiction(db)
    after = max(after, size - NEW_POSITIONS_MAX)
    found = await contradictions_between(db, after=after, upto=size)
    if found or known:
        raise ContradictionError(described(found) if found else known)


@asynccontextmanager
async def run_signer(
    log: CommandLog, pool: Pool, data_dir: Path
) -> AsyncIterator[CheckpointSigner]:
    """Sign checkpoints until the block ends.

    :raises KeyRingError: the key's file is open to others, or holds no key
    """
    signer = CheckpointSigner(pool, data_dir)
    task = asyncio.create_task(signer.run(log), name="checkpoint signer")
    try:
        yield signer
    finally:
        await end_tasks(task)
