"""Answers about ended sessions, remembered for a little while."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from projections.sessions.trace_store import Enrichment, SessionKey
from service.http.envelope import to_json

SESSIONS_MAX: Final = 1_000
SESSION_BYTES_MAX: Final = 16 * 1024
# Annotations are made later, so an answer doesn't hold for long.
REMEMBERED_FOR_S: Final = 60.0
# A trace store takes spans a while after they were sent.
SETTLED_AFTER: Final = timedelta(minutes=5)


@dataclass(slots=True)
class Memory:
    """Bounded in sessions, in what is kept of each, and in time."""

    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[SessionKey, tuple[float, Enrichment]] = field(
        default_factory=OrderedDict
    )

    def __len__(self) -> int:
        return len(self._kept)

    def recall(self, key: SessionKey) -> Enrichment | None:
        until, enrichment = self._kept.get(key, (0.0, None))
        if enrichment is None or until <= self.clock():
            self._kept.pop(key, None)
            return None
        return enrichment

    def remember(self, key: SessionKey, enrichment: Enrichment) -> None:
        """Keep an answer if the session is over, for long enough, and it is small."""
        is_settled = key.last_active_at <= datetime.now(UTC) - SETTLED_AFTER
        if not key.has_ended or not is_settled:
            return
        if len(to_json(enrichment)) > SESSION_BYTES_MAX:
            return
        self._kept[key] = self.clock() + REMEMBERED_FOR_S, enrichment
        self._kept.move_to_end(key)
        while len(self._kept) > SESSIONS_MAX:
            self._kept.popitem(last=False)
