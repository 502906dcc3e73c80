"""Observe which tools upstreams list: new connectors at once, others at intervals."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import psycopg
from prometheus_client import Gauge

from service.database import (
    ANSWER_TIMEOUT_S,
    TRY_ADVISORY_LOCK,
    connect,
    deadline,
    message_of,
)
from service.errors import ServiceError, TooManyRequestsError
from service.gateway.gate import Gate, ObservedTools, Upstream
from service.gateway.health.explain import Failure, explain, host_of, words_of_cut_list
from service.gateway.health.table import Failed, Succeeded
from service.gateway.upstream.client import UpstreamClient
from service.gateway.upstream.errors import Cause
from service.gateway.upstream.listing import Listing, list_tools
from service.outages import Outage, cause_of
from service.pacing import Pace
from service.tasks import background_task, end_tasks
from service.tool_definitions.names import is_acceptable_name

LOCK: Final = "definition observer"
POLL_S: Final = 2.0
STANDBY_S: Final = 5.0
AT_ONCE_MAX: Final = 8
# Those that people ask for take no turn of the others.
ASKED_AT_ONCE_MAX: Final = 8
# Within these bounds an upstream says itself how long its list stays as it is.
INTERVAL_MIN_S: Final = 60.0
INTERVAL_S: Final = 15 * 60.0
INTERVAL_MAX_S: Final = 60 * 60.0
# After a failure; doubled after each further one.
RETRY_S: Final = 5.0
# At least so long between two lists of an upstream that reports changes repeatedly.
CHANGES_INTERVAL_S: Final = 10.0

# So many names of tools beyond the bounds are logged; the others are counted.
LEFT_OUT_NAMES_MAX: Final = 20

FAILING = Gauge(
    "agent_runtime_gateway_connectors_failing",
    "Connectors held by agents whose tools couldn't be listed when last tried, by the "
    "process that observes them.",
)
Note = Callable[[Succeeded | Failed], Awaitable[None]]

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Schedule:
    """When a connector of this version is observed again; ``cause`` of a failure."""

    version: int
    due: float
    retry_s: float = RETRY_S
    cause: Cause | None = None


class DefinitionObserver:
    """Observes connectors that agents hold, and tells the gate.

    ``note`` keeps how each observation ended, for the connector's owner.
    """

    def __init__(self, gate: Gate, client: UpstreamClient, note: Note) -> None:
        self._gate = gate
        self._client = client
        self._note = note
        # Those that this process observes by itself.
        self._scheduled: frozenset[UUID] = frozenset()
        self._asked_for: set[UUID] = set()
        self._schedules: dict[UUID, _Schedule] = {}
        self._at_once = asyncio.Semaphore(AT_ONCE_MAX)
        self._observing: dict[UUID, asyncio.Task[None]] = {}
        # Connectors whose change isn't observed yet, and those that have told one in
        # the last seconds.
        self._changed: set[UUID] = set()
        self._timers: dict[UUID, asyncio.TimerHandle] = {}

    def list_changed(self, connector_id: UUID) -> None:
        """Observe a connector soon: it has told that its list has changed."""
        self._changed.add(connector_id)
        self._observe_change(connector_id)

    async def step(self) -> None:
        """Start to observe every connector that is due."""
        connectors = await self._gate.connectors_to_observe()
        self._scheduled = frozenset(connectors)
        self._schedules = {
            each: self._schedules[each]
            for each in connectors
            if each in self._schedules
        }
        pace = Pace()
        for connector_id in connectors:
            upstream = await self._gate.upstream(connector_id)
            schedule = self._schedules.get(connector_id)
            if upstream is not None and (
                schedule is None
                or schedule.version != upstream.version
                or schedule.due <= time.monotonic()
            ):
                self._start(connector_id)
            await pace.pause()
        FAILING.set(sum(each.cause is not None for each in self._schedules.values()))

    def leave(self) -> None:
        """Leave the schedule to another process."""
        self._scheduled = frozenset()
        FAILING.set(0)

    async def observe_now(self, connector_id: UUID, timeout_s: float) -> bool:
        if connector_id not in self._observing:
            if len(self._asked_for) >= ASKED_AT_ONCE_MAX:
                raise TooManyRequestsError(
                    f"{ASKED_AT_ONCE_MAX} connectors are being observed now; "
                    "try again in a few seconds",
                    code="too_many_observations",
                    headers={"Retry-After": "5"},
                )
            self._asked_for.add(connector_id)
            self._start(connector_id)
        done, _ = await asyncio.wait([self._observing[connector_id]], timeout=timeout_s)
        return bool(done)

    async def settled(self) -> None:
        """Wait until what was started has ended."""
        await asyncio.gather(*self._observing.values())

    async def close(self) -> None:
        self._changed.clear()
        for timer in self._timers.values():
            timer.cancel()
        await end_tasks(*self._observing.values())

    def _start(self, connector_id: UUID, *, of_change: bool = False) -> None:
        if connector_id in self._observing:
            return
        observation = self._observe(connector_id, of_change=of_change)
        task = asyncio.create_task(observation, name="observe tools")
        self._observing[connector_id] = task
        task.add_done_callback(lambda _: self._ended(connector_id))

    def _observe_change(self, connector_id: UUID) -> None:
        """Observe a change that was told, if any; not too soon after another.

        Nor during an observation, which may have read the list of before.
        """
        is_now = not (connector_id in self._observing or connector_id in self._timers)
        if connector_id in self._changed and is_now:
            self._changed.discard(connector_id)
            self._rest(connector_id, CHANGES_INTERVAL_S)
            self._start(connector_id, of_change=True)

    def _rest(self, connector_id: UUID, rest_s: float) -> None:
        self._timers[connector_id] = asyncio.get_running_loop().call_later(
            rest_s, self._rested, connector_id
        )

    def _ended(self, connector_id: UUID) -> None:
        self._observing.pop(connector_id, None)
        self._asked_for.discard(connector_id)
        self._observe_change(connector_id)

    def _rested(self, connector_id: UUID) -> None:
        self._timers.pop(connector_id, None)
        self._observe_change(connector_id)

    async def _observe(self, connector_id: UUID, *, of_change: bool) -> None:
        if connector_id in self._asked_for:
            await self._observe_in_turn(connector_id, of_change=of_change)
            return
        async with self._at_once:
            await self._observe_in_turn(connector_id, of_change=of_change)

    async def _observe_in_turn(self, connector_id: UUID, *, of_change: bool) -> None:
        upstream = await self._gate.upstream(connector_id)
        if upstream is None:
            return
        try:
            lent = await self._gate.upstream_to_list(connector_id)
            if lent is None:
                return
            listing = await list_tools(self._client, lent)
            observed = await self._gate.observed(lent, listing.definitions)
        except Exception as error:  # noqa: BLE001 # a list may hold anything
            retry_s = await self._failed(upstream, error)
            if of_change:
                # Nobody else may know of it: schedules are kept by one process.
                self._changed.add(connector_id)
                if timer := self._timers.pop(connector_id, None):
                    timer.cancel()
                self._rest(connector_id, max(retry_s, CHANGES_INTERVAL_S))
            return
        await self._succeeded(upstream, listing, observed)

    async def _succeeded(
        self, upstream: Upstream, listing: Listing, observed: ObservedTools | None
    ) -> None:
        """Schedule the next observation, and note what was found."""
        ttl_s = INTERVAL_S if listing.ttl_s is None else listing.ttl_s
        wait_s = min(max(ttl_s, INTERVAL_MIN_S), INTERVAL_MAX_S)
        before = self._schedules.get(upstream.connector_id)
        self._schedules[upstream.connector_id] = _Schedule(
            upstream.version, time.monotonic() + wait_s
        )
        if observed is None:
            return
        if before is not None and before.cause is not None:
            logger.info(
                "connector %r at %s lists its tools again",
                upstream.name,
                host_of(upstream.url),
                extra={"connector_id": str(upstream.connector_id)},
            )
        names = [each for each in observed.left_out if is_acceptable_name(each)]
        await self._keep(
            upstream,
            Succeeded(
                connector_id=upstream.connector_id,
                url=upstream.url,
                at=datetime.now(UTC),
                tools=observed.tools,
                left_out=len(observed.left_out),
                left_out_names=names[:LEFT_OUT_NAMES_MAX],
                next_at=self._next(upstream, wait_s),
                note=(
                    None
                    if listing.is_whole or observed.left_out
                    else words_of_cut_list(observed.tools)
                ),
            ),
        )

    async def _failed(self, upstream: Upstream, error: Exception) -> float:
        """Schedule the next attempt, and return in how many seconds."""
        before = self._schedules.get(upstream.connector_id)
        is_same = before is not None and before.version == upstream.version
        retry_s = before.retry_s if before is not None and is_same else RETRY_S
        failure = explain(error, upstream)
        self._schedules[upstream.connector_id] = _Schedule(
            upstream.version,
            time.monotonic() + retry_s,
            min(2 * retry_s, INTERVAL_MAX_S),
            failure.cause,
        )
        was_told = before is not None and is_same and before.cause is failure.cause
        _log(upstream, failure, error, was_told=was_told)
        await self._keep(
            upstream,
            Failed(
                connector_id=upstream.connector_id,
                url=upstream.url,
                at=datetime.now(UTC),
                cause=failure.cause.value,
                error=failure.words,
                next_at=self._next(upstream, retry_s),
            ),
        )
        return retry_s

    def _next(self, upstream: Upstream, wait_s: float) -> datetime | None:
        if upstream.connector_id not in self._scheduled:
            return None
        return datetime.now(UTC) + timedelta(seconds=wait_s)

    async def _keep(self, upstream: Upstream, ended: Succeeded | Failed) -> None:
        try:
            await self._note(ended)
        except (psycopg.Error, ServiceError, OSError) as error:
            logger.warning(
                "the health of connector %r can't be kept: %s",
                upstream.name,
                message_of(error),
                extra={"connector_id": str(upstream.connector_id)},
            )


def _log(
    upstream: Upstream, failure: Failure, error: Exception, *, was_told: bool
) -> None:
    """Say why a connector's tools can't be listed, once for each cause in a row."""
    is_ours = failure.cause is Cause.INTERNAL
    is_expected = isinstance(error, ServiceError | psycopg.Error)
    level = logging.WARNING if is_ours else logging.INFO
    logger.log(
        logging.DEBUG if was_told else level,
        "the tools of connector %r at %s can't be listed: %s",
        upstream.name,
        host_of(upstream.url),
        failure.words,
        exc_info=error if is_ours and not is_expected else None,
        extra={"connector_id": str(upstream.connector_id), "cause": failure.cause},
    )


@asynccontextmanager
async def observing(conninfo: str, observer: DefinitionObserver) -> AsyncIterator[None]:
    """Observe until the block ends; of several processes one, by an advisory lock."""
    task = background_task(lambda: _run(conninfo, observer), name="definition observer")
    try:
        yield
    finally:
        await end_tasks(task)
        await observer.close()


async def _run(conninfo: str, observer: DefinitionObserver) -> None:
    outage = Outage()
    while True:
        try:
            async with await connect(conninfo) as db:
                while True:
                    await asyncio.sleep(POLL_S)
                    with deadline(db, ANSWER_TIMEOUT_S):
                        cursor = await db.execute(TRY_ADVISORY_LOCK, [LOCK])
                        row = await cursor.fetchone()
                    if row is not None and row[0]:
                        await observer.step()
                    outage.has_ended()
        except (psycopg.Error, ServiceError, OSError) as error:
            observer.leave()
            level = outage.level(cause_of(error))
            logger.log(level, "observing tools was interrupted", exc_info=error)
            await asyncio.sleep(STANDBY_S)
