"""How to speak with an upstream is asked once, and forgotten for good."""

import asyncio
from collections.abc import Callable
from uuid import uuid4

from service.call_recording.modes import RecordMode
from service.gateway.gate import Upstream
from service.gateway.upstream.dialects import (
    REMEMBERED_S,
    Dialect,
    Dialects,
    OnConnected,
)
from tests.support.clock import Clock

UPSTREAM = Upstream(
    connector_id=uuid4(),
    url="http://127.0.0.1/mcp",
    mode=RecordMode.STRICT,
    version=1,
)


class Server:
    """Begins a session for each handshake, which ends when ``answers`` is set."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.begun = 0
        self.on_answer: Callable[[], None] = lambda: None

    async def find(self, _: Upstream, __: bytes, ___: OnConnected | None) -> Dialect:
        self.begun += 1
        number = self.begun
        await self.answers.wait()
        self.on_answer()
        return Dialect("2025-11-25", f"session-{number}")


async def test_callers_that_come_while_a_handshake_ends_share_its_session() -> None:
    server = Server()
    dialects = Dialects(server.find)

    async def come(rounds: int) -> Dialect:
        for _ in range(rounds):
            await asyncio.sleep(0)
        return await dialects.of(UPSTREAM, None)

    callers = [asyncio.create_task(come(0))]

    def others_come() -> None:
        """Come before all else in each round of the event loop that follows."""
        callers.extend(asyncio.create_task(come(rounds)) for rounds in range(1, 6))

    server.on_answer = others_come
    await asyncio.sleep(0)
    server.answers.set()
    await callers[0]

    found = await asyncio.gather(*callers)
    assert [each.session_id for each in found] == ["session-1"] * 6
    assert server.begun == 1


async def test_a_session_that_was_forgotten_does_not_come_back() -> None:
    server = Server()
    dialects = Dialects(server.find)

    async def meet_its_end() -> None:
        dialects.forget(UPSTREAM, None, await dialects.of(UPSTREAM, None))

    callers = [
        asyncio.create_task(meet_its_end()),
        asyncio.create_task(dialects.of(UPSTREAM, None)),
    ]
    await asyncio.sleep(0)
    server.answers.set()
    await asyncio.gather(*callers)

    assert dialects.known(UPSTREAM, None) is None


async def test_a_session_ends_after_an_hour() -> None:
    server, clock = Server(), Clock()
    server.answers.set()
    dialects = Dialects(server.find, clock)
    await dialects.of(UPSTREAM, None)

    clock.now += REMEMBERED_S - 1
    kept = dialects.known(UPSTREAM, None)
    clock.now += 1

    assert kept is not None
    assert kept.session_id == "session-1"
    assert dialects.known(UPSTREAM, None) is None
