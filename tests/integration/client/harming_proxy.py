"""A proxy between client and service that harms some of the requests."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from random import Random

from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

HOP_HEADERS = {"host", "content-length", "transfer-encoding", "connection"}
LIES = {"lie": 503, "bad_gateway": 502}


class HarmingProxy:
    """Harms a share of the requests, each in one of these ways; counts them.

    ``cut``: the connection ends before the service has the request. ``lose_reply``:
    it ends after the service has executed the request. ``half_reply``: in the middle of
    the answer. ``refuse``: 503 instead of the service. ``lie``: 503 although the
    service has executed the request. ``bad_gateway``: 502 after it has.
    """

    WAYS = ("cut", "lose_reply", "half_reply", "refuse", "lie", "bad_gateway")

    def __init__(self, target: str, *, share: float, seed: int) -> None:
        self._target = target
        self._share = share
        self._random = Random(seed)  # noqa: S311 # repeatable, not secret
        self.counts: Counter[str] = Counter()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Run the proxy; yield its URL."""
        async with ClientSession(auto_decompress=False) as session:
            self._session = session
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", self._handle)
            async with TestServer(app) as server:
                yield str(server.make_url("")).rstrip("/")

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        way = "pass"
        if self._random.random() < self._share:
            way = self._random.choice(self.WAYS)
        self.counts[way] += 1
        if way == "cut":
            return self._abort(request)
        if way == "refuse":
            return web.Response(status=503, text="busy", headers={"Retry-After": "0"})
        status, headers, body = await self._forward(request)
        if way in LIES:
            return web.Response(status=LIES[way], text="lost it")
        if way == "half_reply":
            answer = web.StreamResponse(status=status, headers=headers)
            answer.content_length = len(body)
            await answer.prepare(request)
            await answer.write(body[: len(body) // 2])
        if way != "pass":
            return self._abort(request)
        return web.Response(status=status, headers=headers, body=body)

    async def _forward(
        self, request: web.Request
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        async with self._session.request(
            request.method,
            self._target + request.raw_path,
            headers=_end_to_end(request.headers.items()),
            data=await request.read(),
        ) as answer:
            headers = _end_to_end(answer.headers.items())
            return answer.status, headers, await answer.read()

    def _abort(self, request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


def _end_to_end(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in HOP_HEADERS]
