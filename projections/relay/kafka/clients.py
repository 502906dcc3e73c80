"""Runs and stops aiokafka's clients, in bounded time even if the broker is gone.

`AIOKafkaProducer.stop()` waits for pending records, and in a transaction they never
expire: without a broker it doesn't return. Cancelled, it leaves tasks behind that
deliver once the broker is back. So a transactional producer runs in an event loop of
its own; closing that loop ends all of its tasks and connections.
"""

# mypy: untyped-calls-exclude="aiokafka"

import asyncio
import logging
from collections.abc import Callable, Coroutine
from threading import Thread
from typing import Any, Final, TypeVar

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError

from projections.relay.kafka.errors import translate_errors
from projections.relay.kafka.settings import (
    RECORD_BYTES_MAX,
    TRANSACTION_TIMEOUT_S,
    KafkaSettings,
    client_options,
)

BATCH_BYTES_MAX: Final = 512 * 1024
CONNECTION_CHECK_S: Final = 0.1
STOP_TIMEOUT_S: Final = 0.5
JOIN_TIMEOUT_S: Final = 3.0

T = TypeVar("T")
logger = logging.getLogger(__name__)


class TransactionalProducer:
    """A transactional producer in a thread with an event loop of its own.

    Starting it fences the previous producer of the same transactional id.
    """

    def __init__(self, settings: KafkaSettings, transactional_id: str) -> None:
        self._settings = settings
        self._transactional_id = transactional_id
        self._producer: AIOKafkaProducer | None = None
        self._loop = _ClientLoop()
        self._loop.set_exception_handler(_log)
        self._thread = Thread(target=self._run_loop, name="kafka producer", daemon=True)
        self._thread.start()

    async def start(self) -> None:
        """Connect and fence.

        :raises PublishError: the broker doesn't answer, or not in time
        """
        await self._run("start the producer", self._start())

    async def run(
        self,
        attempt: str,
        work: Callable[[AIOKafkaProducer], Coroutine[Any, Any, T]],
    ) -> T:
        """Run work in the producer's loop; `attempt` names it in errors.

        A lost connection ends it. On a new one aiokafka would repeat the request in
        the same epoch, and the first one, arriving late, may hit the next transaction
        (KAFKA-17754).

        :raises PublishError: it failed, took longer than the settings' deadline, or
            lost a connection; close the producer, and use a new one
        """
        assert self._producer is not None
        return await self._run(attempt, self._watch(work(self._producer)))

    async def close(self) -> None:
        """Stop the producer; an open transaction stays open.

        Kafka aborts it when the next producer starts, or after its timeout.
        """
        if not self._thread.is_alive():
            return
        stopping = asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
        # The thread ends by itself, even if this call is cancelled.
        stopping.add_done_callback(
            lambda _: self._loop.call_soon_threadsafe(self._loop.stop)
        )
        await asyncio.to_thread(self._thread.join, JOIN_TIMEOUT_S)

    async def _run(self, attempt: str, work: Coroutine[Any, Any, T]) -> T:
        with translate_errors(attempt):
            async with asyncio.timeout(self._settings.deadline_s):
                running = asyncio.run_coroutine_threadsafe(work, self._loop)
                return await asyncio.wrap_future(running)

    async def _start(self) -> None:
        self._producer = AIOKafkaProducer(
            **client_options(self._settings),
            transactional_id=self._transactional_id,
            transaction_timeout_ms=round(TRANSACTION_TIMEOUT_S * 1000),
            compression_type=self._settings.compression,
            max_batch_size=BATCH_BYTES_MAX,
            max_request_size=RECORD_BYTES_MAX,
        )
        try:
            await self._producer.start()
        except AssertionError as error:
            # A broker that was frozen or started again names none, not even itself, for
            # some seconds; aiokafka takes that for impossible.
            raise KafkaConnectionError("the cluster names no broker") from error

    async def _watch(self, work: Coroutine[Any, Any, T]) -> T:
        self._loop.forget_closed_connections()
        working = asyncio.create_task(work)
        try:
            while not working.done():
                await asyncio.wait([working], timeout=CONNECTION_CHECK_S)
                if self._loop.lost_connection():
                    raise KafkaConnectionError("a connection was lost")
        finally:
            working.cancel()
        return working.result()

    async def _stop(self) -> None:
        if self._producer is not None:
            await stop_in_time(self._producer.stop())

    def _run_loop(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()
            self._loop.abort_connections()


async def stop_in_time(stop: Coroutine[Any, Any, None]) -> None:
    """Wait for a client's stop() or close(), but no longer than STOP_TIMEOUT_S."""
    stopping = asyncio.create_task(stop)
    stopping.add_done_callback(lambda it: it.cancelled() or it.exception())
    try:
        await asyncio.wait([stopping], timeout=STOP_TIMEOUT_S)
    finally:
        stopping.cancel()


class _ClientLoop(asyncio.SelectorEventLoop):
    """An event loop that knows its connections, which aiokafka keeps to itself."""

    def __init__(self) -> None:
        super().__init__()
        self._connections: list[asyncio.Transport] = []

    async def create_connection(self, *args: Any, **options: Any) -> Any:
        transport, protocol = await super().create_connection(*args, **options)
        self._connections.append(transport)
        return transport, protocol

    def forget_closed_connections(self) -> None:
        self._connections = [it for it in self._connections if not it.is_closing()]

    def lost_connection(self) -> bool:
        return any(it.is_closing() for it in self._connections)

    def abort_connections(self) -> None:
        # close() would first wait until the broker has read all that is written.
        for connection in self._connections:
            connection.abort()


def _log(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # Usually a record's future whose error nobody reads, as another one failed first.
    logger.debug("unhandled in the producer's loop", extra={"what": context["message"]})
