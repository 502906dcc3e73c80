"""What a response of known bytes sends itself, and what it leaves to aiohttp."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from aiohttp import HttpVersion10, HttpVersion11, web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_writer import HttpVersion, StreamWriter
from aiohttp.test_utils import make_mocked_request

from service.http import direct_response
from service.http.direct_response import PART_BYTES, DirectResponse

SMALL = b'{"data": null}'
LARGE = b"x" * 100_000
HUGE = b"x" * (3 * PART_BYTES + 1)
KINDS = (DirectResponse, web.Response)
HEADERS = {"ETag": '"3"', "Content-Type": "application/json", "Server": "ours"}
Change = Callable[[web.Response], None]


async def written(
    response: web.Response, method: str = "GET", version: HttpVersion = HttpVersion11
) -> list[Any]:
    """Return what each write took, a list where it took one."""
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    protocol.transport = transport = Mock(spec=asyncio.Transport)
    transport.is_closing.return_value = False
    transport.writelines.side_effect = lambda parts: transport.write([*parts])
    request = make_mocked_request(
        method,
        "/",
        version=version,
        transport=transport,
        writer=StreamWriter(protocol, loop),
    )

    await response.prepare(request)
    await response.write_eof()

    assert response.prepared
    return [call.args[0] for call in transport.write.call_args_list]


def lines(head: bytes) -> list[bytes]:
    return sorted(line for line in head.split(b"\r\n") if not line.startswith(b"Date:"))


async def test_a_small_answer_is_one_write_of_what_aiohttp_sends() -> None:
    (ours,) = await written(DirectResponse(body=SMALL, headers=HEADERS))
    (theirs,) = await written(web.Response(body=SMALL, headers=HEADERS))

    assert ours.endswith(b"\r\n\r\n" + SMALL)
    assert b"\r\nDate: " in ours
    assert lines(ours) == lines(theirs)


async def test_a_large_body_is_sent_with_its_head_and_not_copied() -> None:
    ((head, body),) = await written(DirectResponse(body=LARGE))

    assert head.startswith(b"HTTP/1.1 200 OK")
    assert b"Content-Length: 100000" in head
    assert body is LARGE


async def test_without_the_library_s_rendering_aiohttp_sends_a_large_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(direct_response, "_HEAD", None)

    (ours,) = await written(DirectResponse(body=LARGE, headers=HEADERS))
    (theirs,) = await written(web.Response(body=LARGE, headers=HEADERS))

    assert lines(ours) == lines(theirs)


@pytest.mark.parametrize("version", [HttpVersion10, HttpVersion11])
async def test_a_huge_body_is_sent_in_parts(version: HttpVersion) -> None:
    """Also to clients that close their connection, or speak HTTP/1.0, as nginx does."""
    parts = await written(DirectResponse(body=HUGE, headers=HEADERS), version=version)
    parts = [each if isinstance(each, bytes) else b"".join(each) for each in parts]

    head, body = b"".join(parts).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1." + bytes(f"{version.minor} 200 OK", "ascii"))
    assert bytes(f"\r\nContent-Length: {len(HUGE)}", "ascii") in head
    assert body == HUGE
    assert max(map(len, parts)) <= PART_BYTES + len(head) + 4


async def test_others_have_their_turn_between_the_parts_of_a_huge_body() -> None:
    turns = 0

    def count() -> None:
        nonlocal turns
        turns += 1
        asyncio.get_running_loop().call_soon(count)

    count()
    await written(DirectResponse(body=HUGE))

    assert turns > len(HUGE) // PART_BYTES


async def test_the_connection_stays_open() -> None:
    response = DirectResponse(body=SMALL)

    await written(response)

    assert response.keep_alive


def set_cookie(response: web.Response) -> None:
    response.set_cookie("name", "value")


@pytest.mark.parametrize("change", [set_cookie, web.Response.force_close])
async def test_what_is_unusual_about_a_response_is_sent_by_aiohttp(
    change: Change,
) -> None:
    ours, theirs = (kind(body=SMALL, headers=HEADERS) for kind in KINDS)
    change(ours)
    change(theirs)

    assert [*map(lines, await written(ours))] == [*map(lines, await written(theirs))]


@pytest.mark.parametrize(
    ("method", "status", "version"),
    [
        ("HEAD", 200, HttpVersion11),
        ("GET", 204, HttpVersion11),
        ("GET", 304, HttpVersion11),
        ("GET", 200, HttpVersion10),
    ],
)
async def test_what_is_unusual_about_a_request_is_answered_by_aiohttp(
    method: str, status: int, version: HttpVersion
) -> None:
    ours, theirs = (kind(body=SMALL, status=status, headers=HEADERS) for kind in KINDS)

    assert [*map(lines, await written(ours, method, version))] == [
        *map(lines, await written(theirs, method, version))
    ]


async def test_without_the_library_s_attribute_aiohttp_sends_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(web.StreamResponse, "_cookies")
    monkeypatch.setattr(web.Response, "prepare", sent_by_aiohttp := AsyncMock())
    request = make_mocked_request("GET", "/")

    await DirectResponse(body=SMALL).prepare(request)

    sent_by_aiohttp.assert_awaited_once_with(request)


async def test_a_header_with_a_line_break_is_refused() -> None:
    with pytest.raises(ValueError, match="header"):
        await written(DirectResponse(body=SMALL, headers={"X-A": "b\r\nX-C: d"}))


@pytest.mark.parametrize("body", [SMALL, LARGE, HUGE])
async def test_nothing_is_sent_to_a_client_that_has_left(body: bytes) -> None:
    protocol = BaseProtocol(asyncio.get_running_loop())
    request = make_mocked_request(
        "GET", "/", writer=StreamWriter(protocol, asyncio.get_running_loop())
    )
    request.protocol.transport = None

    with pytest.raises(ConnectionError):
        await DirectResponse(body=body).prepare(request)
