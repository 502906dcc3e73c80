"""The yardstick: aiohttp and uvloop, answering the same bytes and doing nothing else.

Run as a program: ``python -m tests.instruments.bench.bare ANSWERS PORT``. ANSWERS is a
JSON list of :class:`Recorded`.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
import uvloop
from aiohttp import ClientSession, web

from tests.instruments.bench.plan import Plan

OWN_HEADERS = frozenset({"content-length", "date"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """An answer of the service, for the bare handler to give."""

    method: str
    path: str
    status: int
    headers: dict[str, str]
    body: str


async def record(url: str, plan: Plan, path: str, file: Path) -> Path:
    """Write down what the service answers to a plan's first request."""
    request = plan.requests[0]
    async with (
        ClientSession(
            headers={**plan.headers, "Accept-Encoding": "identity"}
        ) as session,
        session.request(
            request.method, url + request.path, data=request.body or None
        ) as answer,
    ):
        body = await answer.text()
        recorded = Recorded(
            request.method, path, answer.status, dict(answer.headers), body
        )
    file.write_text(json.dumps([asdict(recorded)]), encoding="utf-8")  # noqa: ASYNC240  # before anything is measured
    return file


def create_app(answers: list[Recorded]) -> web.Application:
    app = web.Application()
    for answer in answers:
        app.router.add_route(answer.method, answer.path, _handler(answer))
    return app


def _handler(answer: Recorded) -> Callable[[web.Request], Awaitable[web.Response]]:
    body = answer.body.encode()
    headers = {
        name: value
        for name, value in answer.headers.items()
        if name.lower() not in OWN_HEADERS
    }

    async def parse_and_answer(request: web.Request) -> web.Response:
        if request.can_read_body:
            orjson.loads(await request.read())
        return web.Response(body=body, status=answer.status, headers=headers)

    return parse_and_answer


async def serve(app: web.Application) -> None:
    """Serve on a free port until killed, and say where; see tests/support/harness."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    host, port = runner.addresses[0]
    print(f"ready at http://{host}:{port}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    recorded = json.loads(Path(sys.argv[1]).read_text())
    uvloop.run(serve(create_app([Recorded(**each) for each in recorded])))


if __name__ == "__main__":
    main()
