"""A response with a large body, sent without copying it."""

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter


class LargeResponse(web.Response):
    """Sends head and body by two writes; aiohttp copies both into one.

    The copy of a body of 600 kB takes more time than answering a small request. A small
    body is better sent by one write, as one packet.
    """

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        writer = await super().prepare(request)
        if writer is not None:
            writer.send_headers()
        return writer
