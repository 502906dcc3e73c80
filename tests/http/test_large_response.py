"""A large body is sent as it is, not copied behind its head."""

import asyncio
from unittest.mock import Mock

from aiohttp import web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_writer import StreamWriter
from aiohttp.test_utils import make_mocked_request

from service.http.large_response import LargeResponse

BODY = b"x" * 100_000


async def written(method: str) -> list[bytes]:
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    protocol.transport = transport = Mock(spec=asyncio.Transport)
    transport.is_closing.return_value = False
    request = make_mocked_request(method, "/", writer=StreamWriter(protocol, loop))
    response = LargeResponse(body=BODY)

    await response.prepare(request)
    await response.write_eof()

    return [call.args[0] for call in transport.write.call_args_list]


async def test_head_and_body_are_two_writes() -> None:
    head, body = await written("GET")

    assert head.startswith(b"HTTP/1.1 200 OK")
    assert b"Content-Length: 100000" in head
    assert body is BODY


async def test_the_answer_to_head_has_no_body() -> None:
    (head,) = await written("HEAD")

    assert b"Content-Length: 100000" in head


def test_it_is_a_response_of_the_library_otherwise() -> None:
    assert isinstance(LargeResponse(body=BODY), web.Response)
