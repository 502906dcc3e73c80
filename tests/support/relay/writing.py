"""Something to publish: connectors that go public and private again."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from uuid import UUID, uuid4

from service.connectors.aggregate import Connector
from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork

WRITER = UUID("00000000-0000-4000-8000-000000000001")


async def register(log: EventLog, count: int) -> list[UUID]:
    async def make(work: UnitOfWork) -> list[UUID]:
        made = []
        for number in range(count):
            connector = Connector(
                owner_id=str(WRITER),
                name=f"connector {number}",
                url="https://tools.example/mcp",
                description="",
            )
            work.save(connector)
            made.append(connector.id)
        return made

    made, _ = await execute(log, make, metadata=metadata(), at=datetime.now(UTC))
    return made


async def toggle(log: EventLog, connector_id: UUID, times: int = 1) -> int:
    """Make it public or private, again and again; return the last position."""

    async def change(work: UnitOfWork) -> None:
        connector = await work.load(Connector, connector_id)
        for _ in range(times):
            if not connector.make_private():
                connector.make_public(by=WRITER, at=work.at)
        work.save(connector)

    _, appended = await execute(log, change, metadata=metadata(), at=datetime.now(UTC))
    assert appended is not None
    assert appended.position is not None
    return appended.position


async def write_on(
    log: EventLog, connectors: Sequence[UUID], random: Random, *, pause_s: float
) -> None:
    """Write until cancelled, now little and now much; then nothing is under way."""
    while True:
        times = random.choice([1, 1, 3, 20])
        writing = asyncio.ensure_future(toggle(log, random.choice(connectors), times))
        try:
            await asyncio.shield(writing)
        finally:
            # Cancelling it would not take back what is being committed.
            await writing
        await asyncio.sleep(random.uniform(0, 2 * pause_s))


def metadata() -> dict[str, str]:
    return {"actor": str(WRITER), "request_id": uuid4().hex}
