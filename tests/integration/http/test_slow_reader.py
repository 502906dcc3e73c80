"""A large response of known bytes, and a client that reads slowly."""

import asyncio

import uvloop
from aiohttp import web

from service.http.direct_response import DirectResponse


def test_a_client_that_reads_slowly_receives_a_large_answer_whole() -> None:
    body = bytes(range(256)) * 64 * 1024

    async def answer(_request: web.Request) -> web.Response:
        return DirectResponse(body=body)

    async def received() -> bytes:
        app = web.Application()
        app.router.add_get("/", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        # The reader stops at its limit, so the system takes a part of the answer.
        reader, writer = await asyncio.open_connection(*runner.addresses[0], limit=1000)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
        answers = [await one_body(reader) for _ in range(2)]
        writer.close()
        await runner.cleanup()
        return b"".join(answers)

    async def one_body(reader: asyncio.StreamReader) -> bytes:
        await reader.readuntil(b"\r\n\r\n")
        return await reader.readexactly(len(body))

    # The event loop of the service, whose writes are its own.
    assert uvloop.run(received()) == body * 2
