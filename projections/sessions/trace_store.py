"""Enrich sessions from a trace store, without depending on it.

The store is queried once for each page. If it is slow, broken or unreachable, the page
is served in time from our own tables.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from aiohttp import web

from projections.sessions.resource import AnnotationSummary, SessionAnnotation

# With less time left, a lookup tells nothing about the store.
LEFT_SHARE_MIN = 0.25

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """A session to look up.

    ``last_active_at`` and ``has_ended`` decide whether an earlier answer is still
    valid.
    """

    session_id: str
    agent_id: UUID
    has_ended: bool
    last_active_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrichment:
    """A trace store's data about one session; None is unknown.

    ``cost`` is in ``currency``.
    """

    annotations: Sequence[SessionAnnotation] = ()
    annotation_summaries: Sequence[AnnotationSummary] = ()
    tokens: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: Decimal | None = None
    currency: str | None = None
    traces: int | None = None
    traces_with_error: int | None = None
    latency_ms_p50: float | None = None
    latency_ms_p99: float | None = None

    @property
    def has_figures(self) -> bool:
        return (self.tokens, self.cost, self.traces) != (None, None, None)


Enrichments = Mapping[str, Enrichment | None]
"""By session id. None: the store has no such session. A missing session could not be
looked up."""


class TraceStore(Protocol):
    async def fetch(
        self, sessions: Sequence[SessionKey], *, deadline_s: float
    ) -> Enrichments:
        """Look up sessions, at most once each, and return the answers in time.

        The caller waits no longer than ``deadline_s``; a store should return earlier,
        with the answers so far. Any exception means that nothing was found.
        """


@dataclass(slots=True)
class Traces:
    """The service's trace store, if any.

    ``deadline_s`` is measured from the start of a page: a page that first waited for
    its own tables waits that much less for the store.
    """

    store: TraceStore | None
    deadline_s: float

    async def of(
        self, sessions: Iterable[SessionKey], *, page_began_at: float
    ) -> Enrichments | None:
        """Look up the sessions of a page; None without a store.

        ``page_began_at`` is a time of :func:`time.monotonic`. A page that has taken
        most of its time already doesn't query the store.
        """
        if self.store is None:
            return None
        keys = list(sessions)
        left_s = page_began_at + self.deadline_s - time.monotonic()
        if not keys or left_s < self.deadline_s * LEFT_SHARE_MIN:
            return {}
        try:
            async with asyncio.timeout(left_s):
                return await self.store.fetch(keys, deadline_s=left_s)
        except TimeoutError:
            logger.warning("the trace store was too slow for a page")
        except Exception:
            # No failure of the store may fail the page.
            logger.exception("the trace store failed")
        return {}


TRACES = web.AppKey("traces", Traces)
