"""A proxy that adds the token of an agent, which the suite can't send."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

# They are of one connection, not of the message.
OF_A_CONNECTION = {"connection", "content-length", "keep-alive", "transfer-encoding"}


@asynccontextmanager
async def authorizing(
    http: aiohttp.ClientSession, url: str, token: str
) -> AsyncIterator[str]:
    """Yield a URL whose requests are those of ``url``, with the token."""

    async def forward(request: web.Request) -> web.StreamResponse:
        headers = request.headers.copy()
        for name in OF_A_CONNECTION:
            headers.popall(name, None)
        headers["Authorization"] = f"Bearer {token}"
        async with http.request(
            request.method, URL(url), headers=headers, data=await request.read()
        ) as answer:
            response = web.StreamResponse(status=answer.status, reason=answer.reason)
            for name, value in answer.headers.items():
                if name.lower() not in OF_A_CONNECTION:
                    response.headers.add(name, value)
            await response.prepare(request)
            async for piece in answer.content.iter_any():
                await response.write(piece)
            await response.write_eof()
            return response

    app = web.Application()
    app.router.add_route("*", "/mcp", forward)
    async with TestServer(app) as server:
        yield str(server.make_url("/mcp"))
