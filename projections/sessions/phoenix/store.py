"""Look up the sessions of a page in Phoenix, in as few requests as possible.

First by filters, up to 16 projects in a request. Sessions without an answer are looked
up by id, 16 in a request, and then one by one.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from projections.sessions.phoenix.client import (
    DocumentError,
    GraphQLAnswer,
    GraphQLClient,
    StoreError,
    http_session,
)
from projections.sessions.phoenix.documents import PER_DOCUMENT_MAX, Document
from projections.sessions.phoenix.lookup import Lookup
from projections.sessions.phoenix.memory import Memory
from projections.sessions.trace_store import Enrichments, SessionKey
from service.circuit_breaker import CircuitBreaker
from service.outages import Outage

# Time before the page's deadline, so that answers found in time are shown.
MARGIN_S: Final = 0.1
MARGIN_SHARE: Final = 0.1
# How long filters aren't used with a Phoenix that rejects them.
WITHOUT_FILTERS_S: Final = 600.0

LOOKUPS = Counter(
    "agent_runtime_trace_store_lookups_total",
    "Sessions looked up in the trace store, by result: found, unknown, failed, "
    "remembered, not asked.",
    ["result"],
)
REQUESTS = Histogram(
    "agent_runtime_trace_store_request_duration_seconds",
    "Duration of requests to the trace store, including failed ones.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
BREAKER = Gauge(
    "agent_runtime_trace_store_breaker_open",
    "1 while the trace store gets no requests, after repeated failures.",
)

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_phoenix(
    base_url: str, *, token: str | None = None, project: str | None = None
) -> AsyncIterator["PhoenixStore"]:
    """Yield a store, whose connections are closed when the block ends."""
    async with http_session(token) as http:
        yield PhoenixStore(GraphQLClient(base_url.rstrip("/"), http), project)


@dataclass(slots=True)
class PhoenixStore:
    """A TraceStore; ``project`` None means one project for each agent.

    An agent's project is named by the agent's id.
    """

    client: GraphQLClient
    project: str | None = None
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    memory: Memory = field(default_factory=Memory)
    _filters_again_at: float = 0.0
    _outage: Outage = field(default_factory=Outage)

    @property
    def is_available(self) -> bool:
        return self.breaker.state == "closed"

    async def fetch(
        self, sessions: Sequence[SessionKey], *, deadline_s: float
    ) -> Enrichments:
        lookup = Lookup(self.project)
        for key in sessions:
            remembered = self.memory.recall(key)
            if remembered is None:
                lookup.open[key.session_id] = key
            else:
                lookup.found[key.session_id] = remembered
        LOOKUPS.labels("remembered").inc(len(lookup.found))
        if lookup.open:
            await self._look_up_in_time(
                lookup, deadline_s - max(MARGIN_S, deadline_s * MARGIN_SHARE)
            )
        return lookup.found

    async def _look_up_in_time(self, lookup: Lookup, time_s: float) -> None:
        wanted = dict(lookup.open)
        if not self.breaker.allows_request():
            LOOKUPS.labels("not asked").inc(len(wanted))
            return
        trial = self.breaker.trial
        try:
            async with asyncio.timeout(max(time_s, 0)):
                await self._look_up(lookup)
                if not lookup.was_answered:
                    raise StoreError("it rejected every document")  # noqa: TRY301
        except StoreError as error:
            self._log_failure("the trace store failed", str(error))
            self.breaker.failed()
        except TimeoutError:
            self._log_failure("the trace store failed", "too slow for a page")
            self.breaker.failed()
        else:
            self.breaker.succeeded()
            if lookup.has_malformed:
                self._log_failure(
                    "the trace store's answer about a session", "malformed"
                )
            elif self._outage.has_ended():
                logger.info("the trace store answers again")
        finally:
            # Cancelled: the next page tries.
            self.breaker.undecided(trial)
        BREAKER.set(not self.is_available)
        for session_id, key in wanted.items():
            enrichment = lookup.found.get(session_id)
            if enrichment is not None:
                self.memory.remember(key, enrichment)
                LOOKUPS.labels("found").inc()
            else:
                is_unknown = session_id in lookup.found
                LOOKUPS.labels("unknown" if is_unknown else "failed").inc()

    async def _look_up(self, lookup: Lookup) -> None:
        with_filters = time.monotonic() >= self._filters_again_at
        if with_filters:
            await lookup.by_filters(self._ask)
        nothing_by_filters = with_filters and not lookup.has_settled_some
        for at_once in (PER_DOCUMENT_MAX, 1):
            if lookup.open:
                await lookup.by_ids(self._ask, at_once)
        if nothing_by_filters and lookup.has_settled_some:
            # An older Phoenix, which answers to ids alone.
            logger.warning("the trace store doesn't support filters")
            self._filters_again_at = time.monotonic() + WITHOUT_FILTERS_S

    async def _ask(self, document: Document) -> GraphQLAnswer | None:
        """Return an answer, or None if the store rejected the document."""
        with REQUESTS.time():
            try:
                return await self.client.ask(document)
            except DocumentError as error:
                self._log_failure("the trace store rejected a document", str(error))
                return None

    def _log_failure(self, what: str, why: str) -> None:
        logger.log(self._outage.level((what, why)), "%s: %s", what, why)
