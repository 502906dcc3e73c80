"""The provider catalog over HTTP."""

from collections.abc import Callable
from datetime import UTC, datetime

from aiohttp import web

from projections.engine.snapshot import refuse_older, wait_for_followers
from projections.engine.time_travel import as_of
from projections.price_catalog.cache import CATALOG_CACHE, FOLLOWER
from projections.price_catalog.http_caching import max_age_s, respond_conditionally
from projections.price_catalog.rendering import ProviderEntry
from service.http.app_keys import EVENT_LOG
from service.http.as_of import At
from service.http.operation import Routes
from service.http.read_server import READ_SERVERS, read_server
from service.http.requests import QueryModel, min_position
from service.http.times import Timestamp

routes = Routes("llm-router")

CLOCK: web.AppKey[Callable[[], datetime]] = web.AppKey("clock")


class ProvidersQuery(QueryModel):
    as_of: Timestamp | None = None
    at: At | None = None


def _utc_now() -> datetime:
    return datetime.now(UTC)


@routes.get(
    "/api/llm-router/providers",
    answers={
        200: "providers with effective pricing",
        304: "not modified since If-None-Match",
    },
    data=list[ProviderEntry],
    min_position=True,
)
async def get_providers(
    request: web.Request, query: ProvidersQuery
) -> web.StreamResponse:
    """List the providers and models with an effective price.

    A price is effective from its `effective_from` until just before its
    `effective_until`. `as_of` selects another time than now. `at`, a time or a position
    of the log, shows the prices as they were known then, without later corrections.
    """
    now = request.app.get(CLOCK, _utc_now)()
    as_of = query.as_of or now
    wanted = min_position(request)
    cache = request.app[CATALOG_CACHE]
    known = None
    if query.at is not None:
        known = await _position_of(request, query.at)
        wanted = max(known, wanted or 0)
    if wanted is None or not cache.has_reached(wanted):
        wanted = await wait_for_followers(request, [FOLLOWER], wanted)
    rendered, state = await cache.get(
        read_server(request), as_of=as_of, known=known, min_position=wanted
    )
    refuse_older(request, state.position)
    boundary = rendered.span.until if query.as_of is None else None
    return respond_conditionally(
        request,
        rendered,
        max_age_s=max_age_s(now, boundary),
        position=state.position,
    )


async def _position_of(request: web.Request, at: At) -> int:
    mapper = request.app[EVENT_LOG].mapper
    # A replica may not have all that was recorded up to a time.
    async with request.app[READ_SERVERS].primary.connection() as db:
        return (await as_of(db, mapper, at)).position
