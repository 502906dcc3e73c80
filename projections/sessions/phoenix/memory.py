"""Answers about ended sessions, remembered for a little while."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from cachetools import TTLCache

from projections.sessions.trace_store import Enrichment, SessionKey
from service.http.envelope import to_json

SESSIONS_MAX: Final = 1_000
SESSION_BYTES_MAX: Final = 16 * 1024
# Annotations are made later, so an answer doesn't hold for long.
REMEMBERED_FOR_S: Final = 60.0
# A trace store takes spans a while after they were sent.
SETTLED_AFTER: Final = timedelta(minutes=5)


class Memory:
    """Bounded in sessions, in what is kept of each, and in time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: TTLCache[SessionKey, Enrichment] = TTLCache(
            SESSIONS_MAX, REMEMBERED_FOR_S, timer=clock
        )

    def __len__(self) -> int:
        return len(self._kept)

    def recall(self, key: SessionKey) -> Enrichment | None:
        return self._kept.get(key)

    def remember(self, key: SessionKey, enrichment: Enrichment) -> None:
        """Keep an answer if the session is over, for long enough, and it is small."""
        is_settled = key.last_active_at <= datetime.now(UTC) - SETTLED_AFTER
        if not key.has_ended or not is_settled:
            return
        if len(to_json(enrichment)) > SESSION_BYTES_MAX:
            return
        self._kept[key] = enrichment
