"""Events that no provider should send, and that end nothing."""

import pytest

from tests.integration.model_gateway.dialects import RESPONSES, event
from tests.integration.model_gateway.provider import provider, stream
from tests.integration.model_gateway.recorded import calls_of
from tests.integration.model_gateway.stage import Stage


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("kind", [["response.completed"], {"response.completed": 1}])
async def test_a_type_that_is_no_text_passes(
    stage: Stage, kind: object, place: int
) -> None:
    odd = event("response.odd", response={}).replace(
        b'"type":"response.odd"', b'"type":' + str(kind).replace("'", '"').encode()
    )
    events = [*RESPONSES.events]
    events.insert(place, odd)
    async with provider(stream(events)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(RESPONSES, stream=True)

        assert (reply.status, await reply.read()) == (200, b"".join(events))


@pytest.mark.parametrize(
    "odd",
    [rb'"\ud83d"', b"[" * 2000 + b"]" * 2000],
    ids=["half a surrogate", "two thousand lists"],
)
async def test_a_last_event_that_this_service_cannot_read_is_the_last(
    stage: Stage, odd: bytes
) -> None:
    *events, last = RESPONSES.events
    assert b'"usage":{' in last
    events.append(last.replace(b'"usage":{', b'"odd":' + odd + b',"usage":{'))
    async with provider(stream(events)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(RESPONSES, stream=True)

        assert (reply.status, await reply.read()) == (200, b"".join(events))
        (call,) = await calls_of(stage)
    assert call["outcome"] == "ok"
    assert call["usage"]["counts"] == {"requests": 1}
