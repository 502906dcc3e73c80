"""The latest write of each token, so that its next reads reflect it."""

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


@dataclass(slots=True)
class OwnWrite:
    """The last position that a token wrote, and who is known to have it.

    ``applied_by`` has servers and their followers.
    """

    epoch: UUID
    position: int
    applied_by: set[tuple[str, str]] = field(default_factory=set)


def _writes() -> "TTLCache[UUID, OwnWrite]":
    return TTLCache(TOKENS_MAX, REMEMBERED_S, timer=time.monotonic)


@dataclass(slots=True)
class OwnWrites:
    """The last write that this process appended, by token."""

    writes: "TTLCache[UUID, OwnWrite]" = field(default_factory=_writes)


OWN_WRITES = web.AppKey("own_writes", OwnWrites)


def remember_write(request: web.Request, position: int) -> None:
    token_id = request[PRINCIPAL].token_id
    if token_id is not None:
        writes = request.app[OWN_WRITES].writes
        write = OwnWrite(request.app[EVENT_LOG].epoch, position)
        known = writes.get(token_id)
        # A request may end after one that wrote later.
        if known is None or known.epoch != write.epoch or known.position < position:
            writes[token_id] = write


def own_write(request: web.Request) -> OwnWrite | None:
    """Return what the caller's token wrote last, if that is recent."""
    principal = request.get(PRINCIPAL)
    if principal is None or principal.token_id is None:
        return None
    write = request.app[OWN_WRITES].writes.get(principal.token_id)
    if write is None or write.epoch != request.app[EVENT_LOG].epoch:
        return None
    return write
