"""HTTP caching: which representation, whether the caller has it, and for how long."""

from datetime import datetime
from functools import lru_cache

from aiohttp import web

from projections.price_catalog.answer import Rendered
from service.http.log_epoch import POSITION_HEADER

MAX_AGE_S = 60
# A cached answer must not be given to someone who waits for a later position.
VARY = "Accept-Encoding, X-Min-Position"
ACCEPT_ENCODINGS_MAX = 64


def respond_conditionally(
    request: web.Request, rendered: Rendered, *, max_age_s: int, position: int
) -> web.Response:
    """Answer with the bytes, gzipped where accepted, or with 304."""
    given = request.headers
    chosen = rendered.plain
    if accepts_gzip(given.get("Accept-Encoding", "")):
        chosen = rendered.gzipped
    headers = {
        "ETag": chosen.etag,
        "Cache-Control": f"private, max-age={max_age_s}",
        "Vary": VARY,
        POSITION_HEADER: str(position),
    }
    known = given.get("If-None-Match")
    if known and names_one(known, (rendered.plain.etag, rendered.gzipped.etag)):
        return web.Response(status=304, headers=headers)
    headers["Content-Type"] = "application/json"
    if chosen.encoding is not None:
        headers["Content-Encoding"] = chosen.encoding
    return web.Response(body=chosen.body, headers=headers)


def max_age_s(now: datetime, boundary: datetime | None) -> int:
    """Return how long an answer may be kept: never past a price's start or end."""
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


def names_one(header: str, etags: tuple[str, ...]) -> bool:
    """Say whether If-None-Match names one of some ETags, by weak comparison."""
    given = [each.strip().removeprefix("W/") for each in header.split(",")]
    return given == ["*"] or any(etag in given for etag in etags)


def _is_zero(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip() == "q" and value.strip().rstrip("0") in {"", "0", "0."}
