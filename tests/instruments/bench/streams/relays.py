"""Relays: ``python -m tests.instruments.bench.streams.relays bare|ours PROVIDER``.

``bare`` is what aiohttp's documentation shows; ``ours`` has all that the model gateway
does with a piece.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from ipaddress import ip_network

import uvloop
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web

from service.http.disconnect import cancelled_on_disconnect
from service.http.overload import ConnectionLimit
from service.http.relayed_body import RelayedBody
from service.http.server import Runner
from service.model_gateway.protocol.streams import stream_of
from service.upstream_http.addresses import AddressPolicy
from service.upstream_http.connections import Connections
from service.upstream_http.event_scanner import EventScanner, Room
from service.upstream_http.relay import Relay
from service.upstream_http.response import Response
from tests.instruments.bench.streams.dialects import DIALECTS

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}


def bare(provider: str) -> Handler:
    session = ClientSession(
        connector=TCPConnector(limit=0),
        timeout=ClientTimeout(total=None),
        cookie_jar=DummyCookieJar(),
    )

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        async with session.post(provider + request.path, data=body) as answer:
            response = web.StreamResponse(status=answer.status, headers=STREAM)
            await response.prepare(request)
            async for piece in answer.content.iter_any():
                await response.write(piece)
            await response.write_eof()
        return response

    return handle


def ours(provider: str) -> Handler:
    policy = AddressPolicy((ip_network("127.0.0.0/8"),))
    connections = Connections(policy, silence_s=60.0)
    room = Room()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        with cancelled_on_disconnect(request):
            answer = await connections.post(provider + request.path, {}, body)
            try:
                return await relayed(request, answer)
            finally:
                answer.close()

    async def relayed(request: web.Request, answer: Response) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status, headers=STREAM)
        await response.prepare(request)
        dialect = DIALECTS[request.match_info["dialect"]]
        stream = stream_of(dialect.service_dialect, withholds_usage=True)
        assert stream is not None
        scanner = EventScanner(stream.markers, stream.examine, room)
        relay = Relay(RelayedBody(request, response), scanner)
        await relay.run(answer)
        await response.write_eof()
        if not stream.has_ended:
            raise RuntimeError("the stream had no last event")
        return response

    return handle


async def main(kind: str, provider: str) -> None:
    app = web.Application()
    handler = {"bare": bare, "ours": ours}[kind](provider)
    app.router.add_post("/{dialect}/{events}/{rate}", handler)
    runner = (
        web.AppRunner(app, access_log=None)
        if kind == "bare"
        else Runner(app, limit=ConnectionLimit(), access_log=None)
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    host, port = runner.addresses[0]
    print(f"ready at http://{host}:{port}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
