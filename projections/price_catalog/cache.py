"""Cache of rendered catalogs, one for each change and each price boundary."""

import asyncio
from collections import deque
from datetime import datetime
from uuid import UUID

from aiohttp import web
from psycopg.errors import UndefinedTable

from projections.price_catalog.queries import (
    CatalogState,
    catalog_state,
    effective_prices,
)
from projections.price_catalog.rendering import RenderedCatalog, render_catalog
from service.errors import RETRY_LATER, UnavailableError
from service.event_log.read_replica import (
    ReadReplica,
    ReadServer,
    ReplicaLostError,
)
from service.pacing import in_thread

FOLLOWER = "provider_catalog"
# How long the state is used without reading it again. Each process reads it for
# itself, so all of them agree within this time.
STATE_TTL_S = 0.1
# The present, and some times in the past; mostly about a megabyte each.
RENDERED_MAX = 8
RENDERED_BYTES_MAX = 32 * 1024 * 1024


class CatalogCache:
    """Renders the catalog again only after a change, or past a price's start or end."""

    def __init__(self) -> None:
        self._state: CatalogState | None = None
        self._state_from: ReadServer | None = None
        self._state_read_at = float("-inf")
        self._rendered: deque[RenderedCatalog] = deque(maxlen=RENDERED_MAX)
        # Concurrent callers wait for one query and one rendering.
        self._lock = asyncio.Lock()

    def has_reached(self, position: int) -> bool:
        return self._state is not None and position <= self._state.position

    async def get(
        self,
        server: ReadServer,
        *,
        as_of: datetime,
        known: int | None,
        min_position: int | None,
    ) -> tuple[RenderedCatalog, CatalogState]:
        """Return the catalog at a time, and a state at most ``STATE_TTL_S`` old.

        ``known``: as known at that position of the log; None is now.

        Expects that the server has reached ``min_position``.

        :raises UnavailableError: the projection was never built
        :raises ReplicaLostError: the server can't tell; the primary can
        """
        state, state_from = await self._current_state(server, min_position)
        if not isinstance(server, ReadReplica):
            # Has at least what any replica has.
            state_from = server
        position = state.changed_at if known is None else min(known, state.changed_at)
        rendered = self._find(as_of, state.epoch, position)
        if rendered is None:
            async with self._lock:
                rendered = self._find(as_of, state.epoch, position)
                if rendered is None:
                    rendered = await self._render(state_from, as_of, state, position)
                    self._keep(rendered)
        return rendered, state

    def _keep(self, rendered: RenderedCatalog) -> None:
        self._rendered.appendleft(rendered)
        size = sum(each.size for each in self._rendered)
        while size > RENDERED_BYTES_MAX and len(self._rendered) > 1:
            size -= self._rendered.pop().size

    async def _current_state(
        self, server: ReadServer, min_position: int | None
    ) -> tuple[CatalogState, ReadServer]:
        if min_position is not None and not self.has_reached(min_position):
            self._state_read_at = float("-inf")
        found = self._fresh_state()
        if found is None:
            async with self._lock:
                found = self._fresh_state() or await self._read_state(server)
        return found

    def _fresh_state(self) -> tuple[CatalogState, ReadServer] | None:
        age_s = asyncio.get_running_loop().time() - self._state_read_at
        if self._state is None or self._state_from is None or age_s >= STATE_TTL_S:
            return None
        return self._state, self._state_from

    async def _read_state(self, server: ReadServer) -> tuple[CatalogState, ReadServer]:
        read_at = asyncio.get_running_loop().time()
        try:
            async with server.connection() as db:
                state = await catalog_state(db)
        except UndefinedTable:
            state = None
        if state is None:
            raise UnavailableError(
                "the price catalog has not been built yet",
                code="not_built_yet",
                headers=RETRY_LATER,
            )
        self._state, self._state_from, self._state_read_at = state, server, read_at
        return state, server

    def _find(
        self, as_of: datetime, epoch: UUID, position: int
    ) -> RenderedCatalog | None:
        for rendered in self._rendered:
            is_same_log = (rendered.epoch, rendered.position) == (epoch, position)
            if is_same_log and as_of in rendered.span:
                return rendered
        return None

    async def _render(
        self,
        server: ReadServer,
        as_of: datetime,
        state: CatalogState,
        position: int,
    ) -> RenderedCatalog:
        # Knowledge as of a position never changes, even if the tables have moved on.
        async with server.connection() as db:
            if isinstance(server, ReadReplica):
                # One address may lead to several replicas.
                here = await catalog_state(db)
                if here is None or here.position < position:
                    raise ReplicaLostError
            prices, span = await effective_prices(db, as_of=as_of, known=position)
        return await in_thread(
            render_catalog, prices, epoch=state.epoch, position=position, span=span
        )


CATALOG_CACHE = web.AppKey("catalog_cache", CatalogCache)
