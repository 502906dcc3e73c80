"""Ending aiokafka's clients in bounded time, whatever the broker does.

`stop()` waits for pending batches, which never expire in a transaction: with the
broker gone it never returns, and after a time-out around it the sender lives on
and delivers when the broker comes back. So this module reaches into private parts
of aiokafka 0.14; the tests count the tasks that are left.
"""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
import contextlib
from collections.abc import Collection
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

END_TIMEOUT_S: Final = 3.0


async def end_producer(producer: AIOKafkaProducer) -> None:
    """Drop what is pending and leave no task behind; an open transaction stays open.

    Kafka aborts it when the next producer starts, or after its time-out.
    """
    producer._closed = True  # noqa: SLF001
    await _cancel_tasks_of(producer._sender)  # noqa: SLF001
    await end_client(producer.client)
    forget_outcome(producer._txn_manager._transaction_waiter)  # noqa: SLF001
    for batches in producer._message_accumulator._batches.values():  # noqa: SLF001
        for batch in batches:
            forget_outcome(batch._drain_waiter)  # noqa: SLF001


async def end_consumer(consumer: AIOKafkaConsumer) -> None:
    consumer._closed = True  # noqa: SLF001
    await _cancel_tasks_of(consumer._fetcher, consumer._coordinator)  # noqa: SLF001
    await end_client(consumer._client)  # noqa: SLF001


async def end_client(client: AIOKafkaClient) -> None:
    # A plain close first flushes what is written, and a paused broker reads nothing.
    for connection in list(client._conns.values()):  # noqa: SLF001
        if connection._writer is not None:  # noqa: SLF001
            connection._writer.transport.abort()  # noqa: SLF001
    with contextlib.suppress(KafkaError, OSError, TimeoutError):
        async with asyncio.timeout(END_TIMEOUT_S):
            await client.close()


def forget_outcome(future: asyncio.Future[Any] | None) -> None:
    # Nobody will ask any more; unread, its exception would be logged as lost.
    if future is not None and future.done() and not future.cancelled():
        future.exception()


async def _cancel_tasks_of(*owners: object) -> None:
    # They keep their requests' tasks to themselves and, when cancelled, wait for
    # them; but these may be asleep in a loop that retries for ever.
    tasks = {task for task in asyncio.all_tasks() if _runs_method_of(owners, task)}
    for task in tasks:
        task.cancel()
    if tasks:
        done, _ = await asyncio.wait(tasks, timeout=END_TIMEOUT_S)
        for task in done:
            forget_outcome(task)


def _runs_method_of(owners: Collection[object], task: asyncio.Task[Any]) -> bool:
    frame = getattr(task.get_coro(), "cr_frame", None)
    runs_for = frame.f_locals.get("self") if frame is not None else None
    return runs_for is not None and any(runs_for is owner for owner in owners)
