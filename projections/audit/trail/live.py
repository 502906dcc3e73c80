"""Stream the trail as server-sent events, resumed by position."""

import asyncio
from dataclasses import replace

from projections.audit.trail.entry import AuditEntry, named_entries
from projections.audit.trail.filters import Filters
from projections.audit.trail.queries import entries_found, trail_and_log_end
from service.event_log.commit_notifier import wait_for_commit
from service.event_log.log import EventLog
from service.event_log.read_replica import ReadServer
from service.http.envelope import to_json
from service.http.streaming import Stream
from service.keys.vault import Vault

BATCH_ENTRIES = 200
HEARTBEAT_S = 15.0
# However often something happens, a stream looks ten times a second. A follower that
# is behind notifies nobody when it has caught up.
PACE_S = 0.1

HEARTBEAT = b": heartbeat\n\n"


class Tail:
    """Sends what passes the filters from ``filters.first`` on, and never ends.

    ``filters.last`` means nothing here.
    """

    def __init__(
        self,
        log: EventLog,
        server: ReadServer,
        vault: Vault,
        filters: Filters,
    ) -> None:
        self._vault = vault
        self._log = log
        self._server = server
        self._filters = filters
        self._is_behind = False

    async def send_batch(self, stream: Stream) -> bool:
        """Send the next recorded entries, and return whether there are more.

        May be repeated if the database fails: then nothing has been sent.
        """
        entries, last, has_more = await self._batch()
        if entries:
            await stream.write(b"".join(map(_event, entries)))
        self._filters = replace(self._filters, first=last + 1)
        return has_more

    async def wait(self, committed: asyncio.Event, timeout_s: float) -> None:
        """Wait for new entries, at most the given time."""
        await asyncio.sleep(PACE_S)
        if not self._is_behind:
            await wait_for_commit(committed, timeout_s)

    async def _batch(self) -> tuple[list[AuditEntry], int, bool]:
        async with self._server.connection() as db:
            reflected, head = await trail_and_log_end(db)
            last = reflected if self._filters.narrows else head
            self._is_behind = last < head
            filters = replace(self._filters, last=last)
            found = await entries_found(
                db, filters, order="oldest", limit=BATCH_ENTRIES
            )
            named = await named_entries(db, self._log.mapper, found.entries)
        shown = await named.shown(self._vault)
        if found.reached is not None:
            last = found.reached
        return shown, max(last, filters.first - 1), found.reached is not None


def _event(entry: AuditEntry) -> bytes:
    return b"id: %d\ndata: %b\n\n" % (entry["position"], to_json(entry))
