"""What a trace store adds to sessions, and asking it without depending on it.

A store is asked once for a page. It may be slow, broken or away: then the page is
served from our own tables, on time.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from aiohttp import web

from projections.sessions.resource import AnnotationSummary, SessionAnnotation

DEADLINE_S = 2.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """A session to be looked up.

    ``last_active_at`` and ``has_ended`` say whether an answer from before can
    still be true.
    """

    session_id: str
    agent_id: UUID
    has_ended: bool
    last_active_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrichment:
    """What a trace store knows of one session; None is unknown, also to it.

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


Enrichments = Mapping[str, Enrichment | None]
"""By session id. None: the store has answered, and has no such session. A session
that is left out could not be looked up."""


class TraceStore(Protocol):
    async def fetch(
        self, sessions: Sequence[SessionKey], *, deadline_s: float
    ) -> Enrichments:
        """Look sessions up, at most once each, and return what came in time.

        The caller waits ``deadline_s`` and no longer; a store that returns before
        keeps what it has found so far. Whatever it raises means that nothing was
        found.
        """


@dataclass(frozen=True, slots=True)
class Traces:
    """The trace store of this service, if it has one, and how long a page waits."""

    store: TraceStore | None = None
    deadline_s: float = DEADLINE_S

    async def of(self, sessions: Iterable[SessionKey]) -> Enrichments | None:
        """Ask about the sessions of a page, in time; None when there is no store."""
        if self.store is None:
            return None
        keys = list(sessions)
        if not keys:
            return {}
        try:
            async with asyncio.timeout(self.deadline_s):
                return await self.store.fetch(keys, deadline_s=self.deadline_s)
        except TimeoutError:
            logger.warning("the trace store was too slow for a page")
        except Exception:
            # Whatever is wrong with it must not be wrong with the page.
            logger.exception("the trace store failed")
        return {}


TRACES = web.AppKey("traces", Traces)
