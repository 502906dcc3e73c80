"""Questions of upstreams that misbehave, during a call or beside it."""

import asyncio
from typing import Any

import pytest

from service.gateway.upstream.errors import WANTS_INPUT
from tests.integration.gateway.test_relayed_questions import (
    QUESTION,
    Stream,
    Upstream,
    asking,
)


@pytest.mark.parametrize("method", [[], {}, 7, None])
async def test_a_method_that_is_no_text_ends_the_call(method: Any) -> None:
    async def ask_oddly(_: Upstream, stream: Stream) -> None:
        await stream.say({**QUESTION, "method": method})
        await asyncio.Event().wait()

    async with (
        asking(ask_oddly) as (_, _, client),
        client.call("tools_add") as stream,
    ):
        assert await stream.text() == WANTS_INPUT
