"""Names and sessions that no event can hold are not recorded, and harm no call."""

import asyncio

import pytest

from service.resources import Resources
from tests.integration.model_gateway.dialects import CHAT
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.recorded import CALLS, call_of, events_of
from tests.integration.model_gateway.stage import Stage
from tests.support.model_gateway.asking import put_routing

# As they stand in JSON.
ODD = [
    r"\u0000",
    r"a\u0000b",
    r"\ud800",
    r"a\udfff\ud800",
    r"two\nlines",
    r"\u202e",
    r"\u0085",
    "x" * 300,
    "x" * 5000,
]
ODD_IDS = [
    "nul",
    "nul inside",
    "half",
    "halves",
    "newline",
    "rtl",
    "nel",
    "300",
    "5000",
]


@pytest.mark.parametrize("name", ODD, ids=ODD_IDS)
@pytest.mark.parametrize("is_routed", [True, False])
async def test_a_name_that_no_model_could_have_is_not_recorded(
    stage: Stage, resources: Resources, name: str, *, is_routed: bool
) -> None:
    body = b'{"model":"%b","messages":[{"role":"user","content":"Hi"}]}' % name.encode()
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        if not is_routed:
            await put_routing(stage.ada, stage.agent)

        reply = await stage.call(CHAT, body)

        assert reply.status in ((200, 400) if is_routed else (404, 400))
        call = await call_of(stage)
    assert call["asked_for"] is None
    one = await stage.ada.get(f"{CALLS}/{call['id']}")
    assert (one.status, one.data["explanation"]) == (200, None)
    for each in await events_of(resources):
        assert getattr(each.event, "asked_for", None) is None


@pytest.mark.parametrize("session", ODD, ids=ODD_IDS)
@pytest.mark.parametrize(
    "place", ["conversation", "prompt_cache_key", "metadata", "metadata of a user"]
)
async def test_an_odd_session_in_a_body_is_not_recorded(
    stage: Stage, session: str, place: str
) -> None:
    told = '"' + session + '"'
    members = {
        "metadata": '"metadata":{"session_id":%s}',
        "metadata of a user": '"metadata":{"user_id":%s}',
    }
    member = members.get(place, f'"{place}":%s') % told
    said = '{"model":"fast","messages":[{"role":"user","content":"Hi"}],' + member + "}"
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)

        assert (await stage.call(CHAT, said.encode())).status == 200

        call = await call_of(stage)
    assert (call["session_id"], call["outcome"]) == (None, "ok")


@pytest.mark.parametrize(
    "header",
    [
        b"Baggage: session.id=%00",
        b"Baggage: session.id=a%0Ab",
        b"Baggage: session.id=" + b"x" * 5000,
        b"X-Session-Id: \xff\xfe",
        b"X-Session-Id: \xed\xa0\x80",
        b"X-Session-Id: " + b"x" * 5000,
        b"X-Claude-Code-Session-Id: \xe2\x80\xae",
    ],
    ids=range(7),
)
async def test_an_odd_session_in_a_header_is_not_recorded(
    stage: Stage, header: bytes
) -> None:
    body = CHAT.request()
    head = (
        f"POST {stage.path(CHAT.path)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"X-Api-Key: {stage.token}\r\nContent-Length: {len(body)}\r\n"
    )
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        reader, writer = await asyncio.open_connection("127.0.0.1", stage.client.port)
        writer.write(head.encode() + header + b"\r\n\r\n" + body)

        received = await reader.read()
        writer.close()

        assert received.startswith(b"HTTP/1.1 200 OK\r\n"), received
        call = await call_of(stage)
    assert (call["session_id"], call["outcome"]) == (None, "ok")
