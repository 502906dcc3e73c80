"""What each token wrote a moment ago, so that its next reads reflect it."""

import time
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from aiohttp import web
from cachetools import TTLCache

from service.http.app_keys import EVENT_LOG
from service.http.authentication import PRINCIPAL

TOKENS_MAX: Final = 10_000
REMEMBERED_S: Final = 10.0


def _positions() -> "TTLCache[UUID, tuple[UUID, int]]":
    return TTLCache(TOKENS_MAX, REMEMBERED_S, timer=time.monotonic)


@dataclass(slots=True)
class OwnWrites:
    """By token, the log's epoch and the last position that this process appended."""

    positions: "TTLCache[UUID, tuple[UUID, int]]" = field(default_factory=_positions)


OWN_WRITES = web.AppKey("own_writes", OwnWrites)


def remember_write(request: web.Request, position: int) -> None:
    token_id = request[PRINCIPAL].token_id
    if token_id is not None:
        epoch = request.app[EVENT_LOG].epoch
        request.app[OWN_WRITES].positions[token_id] = (epoch, position)


def own_position(request: web.Request) -> int | None:
    """Return the position that the caller's token wrote last, if that is recent."""
    principal = request.get(PRINCIPAL)
    if principal is None or principal.token_id is None:
        return None
    epoch, position = request.app[OWN_WRITES].positions.get(
        principal.token_id, (None, None)
    )
    return position if epoch == request.app[EVENT_LOG].epoch else None
