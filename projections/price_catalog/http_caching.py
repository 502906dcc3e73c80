"""HTTP caching: content encoding, ETag, If-None-Match and max-age."""

from datetime import datetime
from functools import lru_cache

from aiohttp import web

from projections.price_catalog.rendering import RenderedCatalog
from service.http.direct_response import DirectResponse
from service.http.log_epoch import POSITION_HEADER

MAX_AGE_S = 60
# X-Min-Position, so that no cached answer is older than the position asked for.
VARY = "Accept-Encoding, X-Min-Position"
ACCEPT_ENCODINGS_MAX = 64


def respond_conditionally(
    request: web.Request, rendered: RenderedCatalog, *, max_age_s: int, position: int
) -> web.Response:
    """Answer with the body, gzipped if accepted, or with 304."""
    is_gzipped = accepts_gzip(request.headers.get("Accept-Encoding", ""))
    chosen = rendered.gzipped if is_gzipped else rendered.plain
    headers = {
        "ETag": chosen.etag,
        "Cache-Control": f"private, max-age={max_age_s}",
        "Vary": VARY,
        POSITION_HEADER: str(position),
    }
    known = request.headers.get("If-None-Match")
    if known and matches_any(known, (rendered.plain.etag, rendered.gzipped.etag)):
        return web.Response(status=304, headers=headers)
    headers["Content-Type"] = "application/json"
    if chosen.encoding is not None:
        headers["Content-Encoding"] = chosen.encoding
    return DirectResponse(body=chosen.body, headers=headers)


def max_age_s(now: datetime, boundary: datetime | None) -> int:
    """Return how long an answer may be cached: never past a price's start or end."""
    if boundary is None:
        return MAX_AGE_S
    return max(0, min(MAX_AGE_S, int((boundary - now).total_seconds())))


@lru_cache(ACCEPT_ENCODINGS_MAX)
def accepts_gzip(header: str) -> bool:
    """Read an Accept-Encoding; only a named gzip counts, and not with q=0."""
    for part in header.lower().split(","):
        coding, _, parameter = part.partition(";")
        if coding.strip() in {"gzip", "x-gzip"}:
            return not _is_zero(parameter)
    return False


def matches_any(header: str, etags: tuple[str, ...]) -> bool:
    """Return whether If-None-Match contains one of some ETags, by weak comparison."""
    listed = [etag.strip().removeprefix("W/") for etag in header.split(",")]
    return listed == ["*"] or any(etag in listed for etag in etags)


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and value.strip().rstrip("0") in {"", "0", "0."}
