"""Short-lived cache of answers about ended sessions."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from cachetools import TTLCache

from projections.sessions.trace_store import Enrichment, SessionKey
from service.http.envelope import to_json

SESSIONS_MAX: Final = 1_000
SESSION_BYTES_MAX: Final = 16 * 1024
# Short, because annotations may be added at any time.
REMEMBERED_FOR_S: Final = 60.0
# A trace store receives spans with a delay.
SETTLED_AFTER: Final = timedelta(minutes=5)


class Memory:
    """An LRU cache with a bound on sessions, on their size, and on their age."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: TTLCache[SessionKey, Enrichment] = TTLCache(
            SESSIONS_MAX, REMEMBERED_FOR_S, timer=clock
        )

    def __len__(self) -> int:
        return len(self._kept)

    def recall(self, key: SessionKey) -> Enrichment | None:
        return self._kept.get(key)

    def remember(self, key: SessionKey, enrichment: Enrichment) -> None:
        """Cache an answer if it is small and the session ended long enough ago."""
        is_settled = key.last_active_at <= datetime.now(UTC) - SETTLED_AFTER
        if not key.has_ended or not is_settled:
            return
        if len(to_json(enrichment)) > SESSION_BYTES_MAX:
            return
        self._kept[key] = enrichment
