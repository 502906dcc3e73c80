"""A provider on loopback that plays a scenario, and keeps every request."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from aiohttp import web

from tests.instruments.model_clients import chat, messages, responses
from tests.instruments.model_clients.scenarios import (
    ANSWERS,
    BROKEN,
    LAST_ANSWER,
    PROMPT,
    REFUSED_ONCE,
    TOOLS,
    Answer,
)

DIALECTS: dict[str, ModuleType] = {
    "v1/chat/completions": chat,
    "v1/responses": responses,
    "v1/messages": messages,
}
# A request's id, which clients read, and what they may only see.
HEADERS = {"x-request-id": "req_1", "request-id": "req_1", "x-of-provider": "some"}
PAUSE_S = 0.002
# Of a stream that breaks: some of the text is among them.
EVENTS_BEFORE_END = 4


@dataclass
class Received:
    """A request; ``left`` says that its client left while nothing came."""

    target: str
    headers: list[tuple[str, str]]
    body: bytes
    left: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Provider:
    """``requests`` are kept by the first part of the path, which names a run."""

    url: str = ""
    requests: dict[str, list[Received]] = field(
        default_factory=lambda: defaultdict(list)
    )
    # What tests change on the way.
    alter: Callable[[bytes], bytes] = bytes

    def base_url(self, run: str) -> str:
        return f"{self.url}/{run}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        run, path = request.match_info["run"], request.match_info["path"]
        _, _, query = request.raw_path.partition("?")
        received = Received(
            f"{request.method} {path}{'?' if query else ''}{query}",
            [(name.decode(), value.decode()) for name, value in request.raw_headers],
            await request.read(),
        )
        self.requests[run].append(received)
        if path.endswith("_tokens"):
            return web.json_response({"input_tokens": 12}, headers=HEADERS)
        if path not in DIALECTS or request.method != "POST":
            return web.json_response({"error": {"message": "not here"}}, status=404)
        is_first = len(self.requests[run]) == 1
        return await self._answer(request, received, DIALECTS[path], is_first=is_first)

    async def _answer(
        self,
        request: web.Request,
        received: Received,
        dialect: ModuleType,
        *,
        is_first: bool,
    ) -> web.StreamResponse:
        body = received.json
        found = PROMPT.findall(json.dumps(body))
        scenario = found[-1] if found else "text"
        status = REFUSED_ONCE.get(scenario)
        if status and is_first:
            headers = {**HEADERS, "Retry-After": "1"}
            return web.json_response(
                dialect.error(status), status=status, headers=headers
            )
        offered = [name for name in TOOLS if name in dialect.tools(body)]
        answer = ANSWERS[scenario]
        if answer.calls and (not offered or dialect.has_results(body)):
            answer = LAST_ANSWER
        tool = offered[0] if offered else ""
        if not body.get("stream"):
            if scenario == "stall":
                await _stall(received)
            content = json.dumps(dialect.document(answer, tool)).encode()
            return web.Response(
                body=self.alter(content),
                headers=HEADERS,
                content_type="application/json",
            )
        response = web.StreamResponse(headers=HEADERS)
        response.content_type = "text/event-stream"
        await response.prepare(request)
        events = list(_events(dialect, body, answer, tool))
        for event in events[:EVENTS_BEFORE_END] if scenario in BROKEN else events:
            await response.write(self.alter(event))
            await asyncio.sleep(PAUSE_S)
        if scenario == "stall":
            await _stall(received)
        if scenario == "stream_error":
            await response.write(dialect.error_event())
        if scenario == "cut":
            assert request.transport is not None
            request.transport.close()
        else:
            await response.write_eof()
        return response


async def _stall(received: Received) -> None:
    """Send nothing, until the client leaves."""
    try:
        await asyncio.Event().wait()
    finally:
        received.left = True


def _events(
    dialect: ModuleType, body: Any, answer: Answer, tool: str
) -> Iterator[bytes]:
    if dialect is chat:
        options = body.get("stream_options") or {}
        with_usage = bool(options.get("include_usage"))
        return chat.chunks(answer, tool, with_usage=with_usage)
    events: Iterator[bytes] = dialect.events(answer, tool)
    return events


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{run}/{path:.*}", made.handle)
    # The handler of a request ends when its client leaves.
    runner = web.AppRunner(
        app, handler_cancellation=True, access_log=None, shutdown_timeout=1
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        made.url = f"http://{host}:{port}"
        yield made
    finally:
        await runner.cleanup()
