"""Headers and queries pass on, each as often as sent, but for what is of one hop."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from tests.integration.model_gateway.dialects import CHAT, MESSAGES, STREAMED, Spoken
from tests.integration.model_gateway.provider import answer, provider, stream
from tests.integration.model_gateway.stage import KEY, MODEL, Stage
from tests.support.model_gateway.operations import target

each_dialect = pytest.mark.parametrize(
    "spoken", STREAMED, ids=lambda each: each.dialect.value
)
Lines = Sequence[tuple[str, str]]


async def asked(stage: Stage, spoken: Spoken, lines: Lines, query: str = "") -> bytes:
    """Send a call with just these headers as they are, in Latin-1; return the answer.

    The agent's token is among them.
    """
    body = spoken.request()
    server = stage.client.server
    reader, writer = await asyncio.open_connection(server.host, server.port)
    head = [
        f"POST {stage.path(spoken.path)}{query} HTTP/1.1",
        f"Host: {server.host}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in lines),
    ]
    try:
        writer.write("\r\n".join([*head, "", ""]).encode("latin-1") + body)
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


def bearer(stage: Stage) -> tuple[str, str]:
    return "Authorization", f"Bearer {stage.token}"


@each_dialect
async def test_headers_reach_the_provider_as_they_were_sent(
    stage: Stage, spoken: Spoken
) -> None:
    lines = [
        ("User-Agent", "claude-cli/2.0 (external, cli)"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "first, second"),
        ("ANTHROPIC-Beta", "third"),
        ("anthropic-beta", "first"),
        ("X-Stainless-Retry-Count", "0"),
        ("x-claude-code-session-id", "s1"),
        ("accept", "text/event-stream"),
        ("Content-Type", "application/json; charset=utf-8"),
        ("OpenAI-Organization", "org-1"),
        ("X-Empty", ""),
        ("X-Title", "caf\u00e9".encode().decode("latin-1")),
        ("X-Title", "caf\u00e9"),
        ("X-Any", bytes(range(128, 256)).decode("latin-1")),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ]
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        assert await asked(stage, spoken, [bearer(stage), *lines])

    (received,) = made.received
    # Names are the same in any letter case.
    sent = [(name.lower(), value) for name, value in lines]
    arrived = [(name.lower(), value) for name, value in received.headers]
    names = {name for name, _ in sent}
    assert [each for each in arrived if each[0] in names] == sent
    assert sorted(name for name, _ in arrived if name not in names) == [
        "accept-encoding",
        "authorization",
        "content-length",
        "host",
    ]
    assert received.header("Host") == made.url.split("/")[2]


async def routes_with(stage: Stage, url: str, credential: object) -> None:
    connection = await stage.connection(url, credential=credential)
    await stage.preset([target(connection, MODEL, context_window=None)])


NOT_SENT = [
    ("Cookie", "session=left-out"),
    ("api-key", "left-out"),
    ("X-API-Key", "left-out"),
    ("X-Forwarded-For", "203.0.113.1, left-out"),
    ("X-Forwarded-Host", "left-out"),
    ("X-Forwarded-Proto", "left-out"),
    ("X-Forwarded-Port", "left-out"),
    ("X-Real-Ip", "left-out"),
    ("Forwarded", "for=left-out"),
    ("Via", "1.1 left-out"),
    ("Proxy-Authorization", "Basic left-out"),
    ("Proxy-Connection", "left-out"),
    ("Keep-Alive", "timeout=5, left-out"),
    ("TE", "trailers, left-out"),
    ("Trailer", "left-out"),
    ("Accept-Encoding", "left-out"),
    ("Connection", "X-Hop , x-other-hop"),
    ("connection", "X-Third-Hop"),
    ("x-hop", "left-out"),
    ("X-Other-Hop", "left-out"),
    ("X-THIRD-HOP", "left-out"),
]


@pytest.mark.parametrize("change", [str.upper, str.lower, str.title])
async def test_what_is_of_one_hop_or_a_credential_stays_here(
    stage: Stage, change: Callable[[str], str]
) -> None:
    lines = [(change(name), value) for name, value in NOT_SENT]
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)

        token = change("authorization"), f"Bearer {stage.token}"
        assert await asked(stage, CHAT, [token, *lines, ("X-Kept", "kept")])

    (received,) = made.received
    assert "left-out" not in str(received.headers)
    assert stage.token not in str(received)
    assert received.names == {
        "host",
        "accept-encoding",
        "authorization",
        "content-length",
        "x-kept",
    }
    assert received.header("Authorization") == f"Bearer {KEY}"


async def test_a_credential_of_another_header_is_the_only_one(stage: Stage) -> None:
    credential = {"secret_name": "provider", "header": "x-api-key", "scheme": None}
    async with provider(answer(MESSAGES.whole)) as made:
        await routes_with(stage, made.url, credential)
        lines = [("x-api-key", stage.token), ("Authorization", "Bearer left-out")]

        assert await asked(stage, MESSAGES, lines)

    (received,) = made.received
    assert received.header("x-api-key") == KEY
    assert "authorization" not in received.names
    assert "left-out" not in str(received)


async def test_a_server_without_keys_gets_none(stage: Stage) -> None:
    async with provider(answer(CHAT.whole)) as made:
        await routes_with(stage, made.url, None)

        assert await asked(stage, CHAT, [bearer(stage)])

    (received,) = made.received
    assert received.names == {"host", "accept-encoding", "content-length"}


REQUEST_ID = b"Agent-Runtime-Request-Id"
RETURNED = [
    (b"Content-Type", b"application/json; charset=utf-8"),
    (b"x-request-id", b"req_1"),
    (b"X-Ratelimit-Remaining", b"7"),
    (b"x-ratelimit-remaining", b"8"),
    (b"Warning", b"199 - one"),
    (b"Warning", b"199 - two"),
    (b"Retry-After", b"3"),
    (b"Date", b"Tue, 15 Sep 2026 12:00:00 GMT"),
    (b"Server", b"acme"),
    (b"Cache-Control", b"private"),
    (b"x-should-retry", b"true"),
    (b"X-Name", "caf\u00e9 \N{GRINNING FACE}".encode()),
    (b"X-Empty", b""),
]
NOT_RETURNED = [
    (b"Set-Cookie", b"left=out"),
    (b"set-cookie", b"also=left"),
    (b"Alt-Svc", b"clear"),
    (b"Strict-Transport-Security", b"max-age=1"),
    (b"Connection", b"keep-alive, X-Hop"),
    (b"X-HOP", b"left"),
    (b"Keep-Alive", b"timeout=5"),
    (b"Proxy-Authenticate", b"Basic"),
    (b"Trailer", b"X-Sum"),
    (b"Upgrade", b"h2c"),
    (b"X-Accel-Redirect", b"/left"),
    (b"x-accel-buffering", b"yes"),
    (b"X-Sendfile", b"/left"),
]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_headers_of_an_answer_arrive_but_for_those_of_one_hop(
    stage: Stage, *, is_stream: bool
) -> None:
    lines = b"".join(b"%b: %b\r\n" % each for each in [*RETURNED[1:], *NOT_RETURNED])
    whole = answer(MESSAGES.whole, headers=lines).replace(
        b"application/json", RETURNED[0][1], 1
    )
    streamed = stream(MESSAGES.events).replace(b"\r\n", b"\r\n" + lines, 1)
    async with provider(streamed if is_stream else whole) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(MESSAGES, stream=is_stream)
        await reply.read()

    expected = [*RETURNED]
    if is_stream:
        expected[0] = b"Content-Type", b"text/event-stream"
        added = {b"X-Accel-Buffering": b"no", b"Transfer-Encoding": b"chunked"}
    else:
        added = {b"Content-Length": b"%d" % len(await reply.read())}
    expected += added.items()
    received = [each for each in reply.raw_headers if each[0] != REQUEST_ID]
    assert sorted(received) == sorted(expected)
    assert len(received) + 1 == len(reply.raw_headers)


async def test_headers_before_the_answer_are_not_of_it(stage: Stage) -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nX-Early: yes\r\nLink: </a>\r\n\r\n"
    async with provider(early + answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(CHAT)

        assert (reply.status, await reply.json()) == (200, CHAT.whole)
    assert not {"X-Early", "Link"} & {*reply.headers}


@pytest.mark.parametrize(
    ("configured", "given", "arrives"),
    [
        ("", "?beta=true", "?beta=true"),
        ("", "", ""),
        ("", "?", ""),
        ("?api-version=2026-01-01", "", "?api-version=2026-01-01"),
        ("?api-version=1", "?beta=true", "?api-version=1&beta=true"),
        ("?a=1&b=%2F", "?a=2&a=3", "?a=1&b=%2F&a=2&a=3"),
        ("", "?a=b%2Fc%2fd&e=%7E~", "?a=b%2Fc%2fd&e=%7E~"),
        ("", "?a=b+c%20d&&=;x", "?a=b+c%20d&&=;x"),
        ("", "?include[]=a&b={c}|d", "?include[]=a&b={c}|d"),
        ("", "?a=100%&b=%zz&c=%C3%A9%ff", "?a=100%&b=%zz&c=%C3%A9%ff"),
        ("", "?a=b?c/d:e@f", "?a=b?c/d:e@f"),
    ],
)
async def test_the_query_arrives_behind_the_base_urls_own(
    stage: Stage, configured: str, given: str, arrives: str
) -> None:
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(f"{made.url}/{configured}")

        assert await asked(stage, MESSAGES, [bearer(stage)], given)

    (received,) = made.received
    assert received.target == f"/v1/messages{arrives}"
