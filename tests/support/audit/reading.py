"""Reading what isn't an envelope: exports, checkpoints and the live stream."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import orjson
from aiohttp import ClientResponse

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.export_end import end_of
from tests.support.callers import Caller
from tests.support.waiting import until_blocking


@asynccontextmanager
async def opened(
    caller: Caller, path: str, **headers: str
) -> AsyncIterator[ClientResponse]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent["Authorization"] = f"Bearer {caller.token}"
    async with caller.client.get(path, headers=sent) as response:
        yield response


async def text(caller: Caller, path: str, **headers: str) -> str:
    async with opened(caller, path, **headers) as response:
        assert response.status == 200, await response.text()
        return await response.text()


async def exported(
    caller: Caller, query: str = "", *, reflecting: int = 0
) -> list[dict[str, Any]]:
    path = f"/api/audit/export.jsonl{query}"
    lines = await text(caller, path, X_Min_Position=str(reflecting))
    *entries, end = [orjson.loads(line) for line in lines.splitlines()]
    assert end_of(end) is not None
    return entries


def until_signed(url: str, token: str, position: int = 1) -> None:
    """Wait until a service that has just started has signed what is up to a position.

    ``token`` is an administrator's.
    """
    headers = {"Authorization": f"Bearer {token}"}
    request = Request(f"{url}/api/audit/checkpoint", headers=headers)  # noqa: S310

    def is_signed() -> bool:
        try:
            with urlopen(request, timeout=60) as answer:  # noqa: S310 # our own server
                note = answer.read().decode()
        except HTTPError as error:
            if error.code == 503:
                return False
            raise
        return Checkpoint.parse(note).size >= position

    until_blocking(is_signed)


class Live:
    """What a stream has sent, one server-sent event after the other."""

    def __init__(self, response: ClientResponse) -> None:
        self.response = response

    async def next(self) -> tuple[int, dict[str, Any]]:
        """Return the next event's id and data, past heartbeats."""
        fields: dict[str, str] = {}
        while True:
            line = (await self.response.content.readline()).decode()
            assert line, "the stream has ended"
            if line == "\n" and fields:
                return int(fields["id"]), orjson.loads(fields["data"])
            name, _, value = line.strip().partition(": ")
            if name:
                fields[name] = value

    async def ends(self) -> bool:
        return not (await self.response.content.read())


@asynccontextmanager
async def live(caller: Caller, query: str = "", **headers: str) -> AsyncIterator[Live]:
    async with opened(caller, f"/api/audit/stream{query}", **headers) as response:
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        yield Live(response)
