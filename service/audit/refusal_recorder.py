"""Record refused commands, in a flood as one event a minute."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import psycopg
from aiohttp import web
from prometheus_client import Counter

from service.audit.aggregate import Refusal
from service.errors import ForbiddenError, ServiceError
from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.http.authentication import PRINCIPAL
from service.http.dispatch import request_metadata
from service.http.operation import OPERATION
from service.http.refusals import REFUSALS
from service.tasks import background_task, end_tasks

FOLDED_FOR_S: Final = 60.0
FLUSH_INTERVAL_S: Final = 1.0
CALLERS_MAX: Final = 10_000
UNRECORDED = Counter(
    "agent_runtime_refusals_unrecorded_total",
    "Refused commands beyond the 10,000 callers whose refusals are recorded as events.",
)

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Folded:
    """Refusals of one user at one operation since the last event about them."""

    since: float
    metadata: Mapping[str, str]
    method: str
    path: str
    code: str
    times: int = 0


class RefusalRecorder:
    """Records refusals of one process.

    A user adds at most one event a minute for each operation, after the first one;
    of more than ``CALLERS_MAX`` users and operations at once, refusals are counted
    in a metric instead.
    """

    def __init__(
        self, log: CommandLog, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._clock = clock
        self._folded: dict[tuple[UUID, str], _Folded] = {}

    async def record(self, request: web.Request, error: ForbiddenError) -> None:
        """Record one refusal of an authenticated caller; raises nothing."""
        key = (request[PRINCIPAL].user_id, request[OPERATION].name)
        folded = self._folded.get(key)
        is_first = folded is None
        if folded is None:
            if len(self._folded) >= CALLERS_MAX:
                UNRECORDED.inc()
                return
            folded = self._folded[key] = _Folded(self._clock(), {}, "", "", "")
        folded.metadata = request_metadata(request)
        folded.method, folded.path = request.method, request.path
        folded.code = error.code
        folded.times += 1
        if is_first:
            await self._append(folded)

    async def flush(self, *, all_of_them: bool = False) -> None:
        """Record the refusals whose minute is over, as one event each."""
        now = self._clock()
        for key, folded in list(self._folded.items()):
            if not all_of_them and now - folded.since < FOLDED_FOR_S:
                continue
            if folded.times:
                folded.since = now
                await self._append(folded)
            else:
                del self._folded[key]

    async def _append(self, folded: _Folded) -> None:
        times, folded.times = folded.times, 0

        async def decide(work: UnitOfWork) -> None:
            work.save(
                Refusal(
                    method=folded.method,
                    path=folded.path,
                    code=folded.code,
                    times=times,
                )
            )

        metadata, at = folded.metadata, datetime.now(UTC)
        try:
            await execute(self._log, decide, metadata=metadata, at=at)
        except (ServiceError, psycopg.Error) as error:
            # The refusal is answered as one all the same; it is tried again.
            folded.times += times
            logger.warning(
                "a refusal was not recorded",
                extra={"actor": metadata["actor"], "reason": type(error).__name__},
            )


async def recording_refusals(app: web.Application) -> AsyncIterator[None]:
    """Record folded refusals while the application runs, and the last at its end."""
    recorder = app[REFUSALS]
    assert isinstance(recorder, RefusalRecorder)

    async def keep_flushing() -> None:
        while True:
            await asyncio.sleep(FLUSH_INTERVAL_S)
            await recorder.flush()

    task = background_task(keep_flushing, name="refusals")
    yield
    await end_tasks(task)
    await recorder.flush(all_of_them=True)
