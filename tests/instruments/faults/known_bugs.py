"""Bugs that were left out, to be put in: a check that finds none of them is none.

Each is a change of the running process, made by buggy_serve.py before it serves.
Nothing here can be reached from the service itself.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from projections.audit.trail.projector import AuditTrailProjector
from projections.engine import follower
from projections.engine.follower_position import FollowerPosition
from projections.relay import batch_reader, relay, relay_position
from service.connectors.aggregate import Connector
from service.event_log import batch as batch_module
from service.event_log import log, unit_of_work, writer
from service.event_log.append import Append, Appended
from service.event_log.batch import BatchResult
from service.event_log.cache_tail import CacheTail
from service.event_log.pending import NO_BASES
from service.keys import vault
from tests.integration.kafka.test_fencing import ReadsFirst
from tests.integration.relay.relay_process import nobody_else


@dataclass(frozen=True, slots=True)
class Bug:
    """``kind`` is the process that has it."""

    kind: str
    install: Callable[[], None]


def replace(owner: Any, **parts: Any) -> None:
    """Put other parts into a class or a module."""
    for name, part in parts.items():
        setattr(owner, name, part)


def skips_version_check() -> None:
    """What was only read may have moved: who decides on a grant isn't told."""
    original = unit_of_work.UnitOfWork.to_append

    def to_append(self: unit_of_work.UnitOfWork, receipt: Any) -> Append:
        append = original(self, receipt)
        written = {each.originator_id for each in append.events}
        reads = {key: at for key, at in append.reads.items() if key in written}
        return dataclasses.replace(append, reads=reads)

    replace(unit_of_work.UnitOfWork, to_append=to_append)


def acknowledges_before_commit() -> None:
    """Answer as soon as it is queued, with the place that it should get."""
    original = log.EventLog.submit
    under_way: set[Any] = set()

    async def early(self: log.EventLog, append: Append, task: Any) -> Appended:
        await asyncio.sleep(0.001)
        if task.done():
            result: Appended = task.result()
            return result
        position = (await self.head()).position
        return Appended(
            position=position + len(append.events) if append.events else None,
            recorded_at=datetime.now(UTC),
        )

    def submit(self: log.EventLog, append: Append, bases: Any = NO_BASES) -> Any:
        task = original(self, append, bases)
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        task.add_done_callback(asyncio.Future.exception)
        return early(self, append, task)

    replace(log.EventLog, submit=submit)


def repeats_blindly() -> None:
    """Send a lost commit again without asking what became of it."""

    async def settle(
        _conninfo: str, _backend: Any, batch: Sequence[Append], *, timeout_s: float
    ) -> list[None]:
        return [None for _ in batch]

    replace(writer, settle=settle)


def calls_unknown_refused() -> None:
    """Say of a lost commit that nothing was appended."""

    async def settle(*_: Any, **__: Any) -> None:
        return None

    replace(writer, settle=settle)
    replace(writer, _unknown=writer._unreachable)  # noqa: SLF001 # a bug, put in


def keeps_no_receipt() -> None:
    """Forget which Idempotency-Key has been used."""
    original = unit_of_work.UnitOfWork.to_append

    def to_append(self: unit_of_work.UnitOfWork, _receipt: Any) -> Append:
        return original(self, None)

    replace(unit_of_work.UnitOfWork, to_append=to_append)


def tells_the_batchs_position() -> None:
    """Answer every command of a batch with the position of the last."""
    original = batch_module.outcomes

    def outcomes(epoch: UUID, batch: Sequence[Append], row: Any) -> BatchResult:
        result = original(epoch, batch, row)
        those = [each for each in result.outcomes if isinstance(each, Appended)]
        last = max((each.position or 0 for each in those), default=0)
        return dataclasses.replace(
            result,
            outcomes=[
                dataclasses.replace(each, position=last)
                if isinstance(each, Appended) and each.position
                else each
                for each in result.outcomes
            ],
        )

    replace(writer, outcomes=outcomes)


def trusts_its_cache() -> None:
    """Decide to change nothing on facts that another process has moved."""

    async def moved(self: log.EventLog, _reads: Any) -> list[UUID]:
        return []

    async def catch_up(self: CacheTail) -> None:
        return None

    replace(log.EventLog, moved=moved)
    replace(CacheTail, _catch_up=catch_up)


def authorizes_from_a_read_table() -> None:
    """Believe a copy of the grants that is one question behind, as read tables are."""
    copy: dict[tuple[UUID, UUID], bool] = {}
    original = Connector.is_granted_to
    skips_version_check()

    def is_granted_to(self: Connector, agent_id: UUID) -> bool:
        believed = copy.get((self.id, agent_id), False)
        copy[self.id, agent_id] = original(self, agent_id)
        return believed

    replace(Connector, is_granted_to=is_granted_to)


def logs_secrets() -> None:
    """Write a value to the log of the process."""
    original = vault.Vault.seal_secret

    async def seal_secret(self: vault.Vault, value: str, binding: Any) -> bytes:
        logging.getLogger("agent_runtime").info("sealing %s", value)
        return await original(self, value, binding)

    replace(vault.Vault, seal_secret=seal_secret)


def saves_position_apart() -> None:
    """Save a follower's position first, and its rows in another transaction."""

    async def apply(
        self: follower.Follower,
        db: Any,
        at: FollowerPosition,
        events: Any,
        begin: int,
        upto: int,
    ) -> None:
        await at.advance(db, begin, upto)
        await asyncio.sleep(0.05)
        async with db.transaction():
            if events:
                await self._projector.project(db, events)

    replace(follower.Follower, _apply=apply)


def skips_poisoned_events() -> None:
    """Go on behind an event that can't be applied."""
    original = AuditTrailProjector.project

    async def project(self: Any, db: Any, events: Sequence[Any]) -> None:
        sound = [each for each in events if each.position % 20]
        if sound:
            await original(self, db, sound)

    replace(AuditTrailProjector, project=project)


def relay_leaves_events_out() -> None:
    """Lose an event of a batch now and then."""
    original = batch_reader.BatchReader.next

    async def next_batch(
        self: batch_reader.BatchReader, *, after: int, upto: int
    ) -> batch_reader.MessageBatch | None:
        batch = await original(self, after=after, upto=upto)
        if batch is None:
            return None
        left = [each for each in batch.messages if each.position % 50]
        return dataclasses.replace(batch, messages=left or batch.messages)

    replace(batch_reader.BatchReader, next=next_batch)


def relay_reads_before_it_fences() -> None:
    """Ask how far the topic is before the older relay is shut out."""

    class Slow(ReadsFirst):
        async def gap(self) -> None:
            await asyncio.sleep(0.1)

    original = relay.Relay.__init__

    def init(self: Any, *given: Any, **named: Any) -> None:
        original(self, *given, **{**named, "make_publisher": Slow})

    replace(relay.Relay, __init__=init)
    replace(relay_position, is_leader=nobody_else)


BUGS = {
    each.__name__: Bug(kind, each)
    for kind, those in {
        "api": (
            skips_version_check,
            acknowledges_before_commit,
            repeats_blindly,
            calls_unknown_refused,
            keeps_no_receipt,
            tells_the_batchs_position,
            trusts_its_cache,
            authorizes_from_a_read_table,
            logs_secrets,
        ),
        "followers": (
            saves_position_apart,
            skips_poisoned_events,
        ),
        "relay": (relay_leaves_events_out, relay_reads_before_it_fences),
    }.items()
    for each in those
}
