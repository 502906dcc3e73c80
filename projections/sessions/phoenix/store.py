"""Look the sessions of a page up in Phoenix, in as few requests as it takes.

First by filters, up to 16 projects in a request; what these leave open, by ids, 16
in a request; what those leave open, one by one. A later way is only taken for
sessions that an earlier one had no answer to.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from projections.sessions.phoenix.breaker import CircuitBreaker
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

# Before the page stops waiting, so that what was found in time is shown.
MARGIN_S: Final = 0.1
MARGIN_SHARE: Final = 0.1
# How long a Phoenix that refuses filters isn't asked with them.
WITHOUT_FILTERS_S: Final = 600.0

LOOKUPS = Counter(
    "agent_runtime_trace_store_lookups_total",
    "Sessions looked up in the trace store, by what became of it.",
    ["result"],
)
REQUESTS = Histogram(
    "agent_runtime_trace_store_request_duration_seconds",
    "Time that requests to the trace store took, also in vain.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
BREAKER = Gauge(
    "agent_runtime_trace_store_breaker_open",
    "1 while the trace store is left alone because it failed again and again.",
)

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_phoenix(
    base_url: str, *, token: str | None = None, project: str | None = None
) -> AsyncIterator["PhoenixStore"]:
    """Give a store that keeps its connections until the block ends."""
    async with http_session(token) as http:
        yield PhoenixStore(GraphQLClient(base_url.rstrip("/"), http), project)


@dataclass(slots=True)
class PhoenixStore:
    """A TraceStore; ``project`` None means that each agent has one of its own.

    An agent's own project has the agent's id for its name.
    """

    client: GraphQLClient
    project: str | None = None
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    memory: Memory = field(default_factory=Memory)
    _filters_again_at: float = 0.0

    @property
    def is_well(self) -> bool:
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
        asked = dict(lookup.open)
        if not self.breaker.lets_pass():
            LOOKUPS.labels("not asked").inc(len(asked))
            return
        try:
            async with asyncio.timeout(max(time_s, 0)):
                await self._look_up(lookup)
                if not lookup.was_answered:
                    raise StoreError("it has refused every document")  # noqa: TRY301
        except StoreError as error:
            logger.warning("the trace store failed: %s", error)
            self.breaker.failed()
        except TimeoutError:
            logger.warning("the trace store was too slow for a page")
            self.breaker.failed()
        else:
            self.breaker.succeeded()
        BREAKER.set(not self.is_well)
        for session_id, key in asked.items():
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
            # It answers, but not to these: an older Phoenix.
            logger.warning("the trace store takes no filters")
            self._filters_again_at = time.monotonic() + WITHOUT_FILTERS_S

    async def _ask(self, document: Document) -> GraphQLAnswer | None:
        """Return an answer; None when there is none of use to this document."""
        with REQUESTS.time():
            try:
                return await self.client.ask(document)
            except DocumentError as error:
                logger.warning("the trace store refused a document: %s", error)
                return None
