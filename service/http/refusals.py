"""The interface of what records refused commands."""

from typing import Protocol

from aiohttp import web

from service.errors import ForbiddenError


class Refusals(Protocol):
    """Records that callers were refused what they asked to change."""

    async def record(self, request: web.Request, error: ForbiddenError) -> None:
        """Record one refusal of an authenticated caller; raises nothing."""


REFUSALS: web.AppKey[Refusals] = web.AppKey("refusals")
