"""The catalog in memory: rendered once for each change and each price boundary."""

import asyncio
from collections import deque
from datetime import datetime

from aiohttp import web
from psycopg.errors import UndefinedTable

from projections.engine.progress import wait_for_position
from projections.price_catalog.answer import Rendered, render_catalog
from projections.price_catalog.queries import (
    CatalogState,
    catalog_state,
    effective_prices,
)
from service.database import Pool
from service.errors import UnavailableError

FOLLOWER = "provider_catalog"
# How long "nothing has moved" is believed without asking again. Every process asks
# for itself, so all of them agree within this time.
BELIEVED_S = 0.1
# The present, and some moments of the past; about a megabyte each.
RENDERED_MAX = 8


class RenderedCatalog:
    """Answers from memory while neither the log nor the clock has moved on."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._state: CatalogState | None = None
        self._asked_at = float("-inf")
        self._rendered: deque[Rendered] = deque(maxlen=RENDERED_MAX)
        self._turn = asyncio.Lock()

    def at_hand(
        self, as_of: datetime, min_position: int | None
    ) -> tuple[Rendered, CatalogState] | None:
        """Return what can be answered at once; None: ask ``state`` and ``answer``."""
        state = self._believed()
        if state is None or (min_position or 0) > state.position:
            return None
        found = self._find(as_of, (state.epoch, state.changed_at))
        return None if found is None else (found, state)

    async def state(self, *, min_position: int | None) -> CatalogState:
        """Return how far the projection has come, at most ``BELIEVED_S`` ago.

        :raises PreconditionFailedError: the log hasn't come as far as it should
        :raises UnavailableError: the projection doesn't in time, or was never built
        """
        if min_position is not None and not self._has_reached(min_position):
            await wait_for_position(self._pool, [FOLLOWER], min_position)
            self._asked_at = float("-inf")
        state = self._believed()
        if state is None:
            async with self._turn:
                state = self._believed() or await self._ask()
        return state

    async def answer(
        self, *, as_of: datetime, known: int | None, state: CatalogState
    ) -> Rendered:
        """Return the answer for a moment, as known at a position or, None, now."""
        position = state.changed_at if known is None else min(known, state.changed_at)
        place = (state.epoch, position)
        found = self._find(as_of, place)
        if found is None:
            async with self._turn:
                found = self._find(as_of, place)
                if found is None:
                    found = await self._render(as_of, state, position)
                    self._rendered.appendleft(found)
        return found

    def _has_reached(self, position: int) -> bool:
        return self._state is not None and position <= self._state.position

    def _believed(self) -> CatalogState | None:
        age_s = asyncio.get_running_loop().time() - self._asked_at
        return self._state if age_s < BELIEVED_S else None

    async def _ask(self) -> CatalogState:
        asked_at = asyncio.get_running_loop().time()
        try:
            async with self._pool.connection() as db:
                state = await catalog_state(db)
        except UndefinedTable:
            state = None
        if state is None:
            raise UnavailableError(
                "the price catalog has not been built yet",
                code="not_built_yet",
                headers={"Retry-After": "1"},
            )
        self._state, self._asked_at = state, asked_at
        return state

    def _find(self, as_of: datetime, place: tuple[object, int]) -> Rendered | None:
        for rendered in self._rendered:
            if rendered.place == place and as_of in rendered.span:
                return rendered
        return None

    async def _render(
        self, as_of: datetime, state: CatalogState, known: int
    ) -> Rendered:
        # What was known at a position doesn't change, so it is no matter if the
        # tables have moved on meanwhile.
        async with self._pool.connection() as db:
            prices, span = await effective_prices(db, as_of=as_of, known=known)
        return await asyncio.to_thread(
            render_catalog, prices, place=(state.epoch, known), span=span
        )


RENDERED_CATALOG = web.AppKey("rendered_catalog", RenderedCatalog)
