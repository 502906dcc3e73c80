"""How a body that is relayed ends for a client that doesn't read."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from multidict import CIMultiDict

from service.http import relayed_body
from service.http.relayed_body import RelayedBody
from tests.support.waiting import until


class Transport(asyncio.Transport):
    """Closes when everything is sent, which is never."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")


def body_over(transport: Transport, **headers: str) -> RelayedBody:
    request: Any = SimpleNamespace(transport=transport, writer=None)
    response: Any = SimpleNamespace(headers=CIMultiDict(headers))
    return RelayedBody(request, response)


async def test_a_cut_body_is_given_up_when_nobody_reads_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relayed_body, "WRITE_TIMEOUT_S", 0.0)
    transport = Transport()

    body_over(transport, **{"Transfer-Encoding": "chunked"}).cut()

    assert transport.calls == ["close"]
    await until(lambda: transport.calls == ["close", "abort"])


async def test_a_cut_body_whose_end_is_that_of_its_connection_is_reset() -> None:
    transport = Transport()

    body_over(transport).cut()

    assert transport.calls == ["abort"]
