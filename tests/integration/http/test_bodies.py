"""What a body must be, and that nothing of a refused one is applied."""

import asyncio
import gzip
import io
import statistics
import time
import zlib
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import MagicMock
from uuid import uuid4

import orjson
import pytest

from service.http.body import BODY_BYTES_MAX
from service.http.json_bounds import JSON_DEPTH_MAX
from tests.integration.http.conftest import Shared
from tests.integration.http.raw import answer_to_body, answer_to_head
from tests.support.connectors.making import TRACKER
from tests.support.waiting import TIMEOUT_S

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONNECTORS = "/api/mcp/connectors"
QUOTED = "Ztrictly-confidential"


def nested(levels: int) -> bytes:
    return b'{"name":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "not_json"),
        (b"{", 400, "not_json"),
        (b'{"name": "a",}', 400, "not_json"),
        (b"{'name': 'a'}", 400, "not_json"),
        (b'{"name": NaN}', 400, "not_json"),
        (b'{"name": "\xff"}', 400, "not_json"),
        (b'{"name": "\\ud800"}', 400, "not_json"),
        (b'\xef\xbb\xbf{"name": "a"}', 400, "not_json"),
        ('{"name": "a"}'.encode("utf-16"), 400, "not_json"),
        (b'{"name": "a"} {}', 400, "not_json"),
        (nested(JSON_DEPTH_MAX), 422, "invalid_request"),
        (nested(JSON_DEPTH_MAX + 1), 400, "json_too_deep"),
        (nested(100_000), 400, "json_too_deep"),
        (b'{"name":"a","name":"b","url":"https://a.example"}', 400, "duplicate_key"),
        (
            b'{"name":"a","n\\u0061me":"b","url":"https://a.example"}',
            400,
            "duplicate_key",
        ),
        (b'{"name":"a","name":1,"url":"https://a.example"}', 400, "duplicate_key"),
        (b'{"name":"a","x":{"y":1,"y":2}}', 400, "duplicate_key"),
        (b'{"name":"a\\u0000b","url":"https://a.example"}', 422, None),
        (b'{"name":"a","url":"https://a.example","\\u0000":1}', 422, None),
        (b"null", 422, "invalid_request"),
        (b"[]", 422, "invalid_request"),
        (b'"name"', 422, "invalid_request"),
        (b"{}", 422, "invalid_request"),
        (b'{"name": 5, "url": "https://a.example"}', 422, "invalid_request"),
        (b'{"name": "a", "url": "https://a.example", "x": 1}', 422, "invalid_request"),
    ],
)
async def test_an_invalid_body_is_refused_and_changes_nothing(
    shared: Shared, body: bytes, status: int, code: str | None
) -> None:
    before = await shared.resources.log.head()

    reply = await shared.ada.post(CONNECTORS, body)

    assert reply.status == status
    assert code is None or reply.code == code
    assert await shared.resources.log.head() == before


@pytest.mark.parametrize(
    "rule",
    [
        {"connector_id": QUOTED},
        {"connector_id": f"{uuid4()}{QUOTED}"},
        {"tool_pattern": QUOTED + "\n"},
        {"tool_pattern": QUOTED * 300},
        {"stance": QUOTED},
        {"stance": [QUOTED]},
        {"unknown": QUOTED},
    ],
)
async def test_a_refusal_never_quotes_a_value(
    shared: Shared, rule: dict[str, Any]
) -> None:
    good = {"connector_id": str(uuid4()), "tool_pattern": "a", "stance": "allow"}

    reply = await shared.ada.put(
        f"/api/mcp/agents/{uuid4()}/tools", {"rules": [{**good, **rule}]}
    )

    assert reply.status == 422
    assert b"Zt" not in reply.body


async def test_what_a_refusal_says_is_bounded(shared: Shared) -> None:
    unknown = {f"{number}" + "x" * 5_000: 1 for number in range(150)}

    reply = await shared.ada.post(CONNECTORS, {**TRACKER, **unknown})

    assert reply.status == 422
    assert len(reply.data["errors"]) == 100
    assert len(reply.body) < 30_000


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=iso-8859-1",
        "application/json-patch+json",
        "",
    ],
)
async def test_another_type_of_body_is_refused(
    shared: Shared, content_type: str
) -> None:
    reply = await shared.ada.post(CONNECTORS, TRACKER, Content_Type=content_type)

    assert (reply.status, reply.code) == (415, "unsupported_media_type")


async def test_json_may_name_its_charset(shared: Shared) -> None:
    reply = await shared.ada.post(
        CONNECTORS, TRACKER, Content_Type="application/json; charset=UTF-8"
    )

    assert reply.status == 201


async def test_a_compressed_body_is_refused(shared: Shared) -> None:
    reply = await shared.ada.post(
        CONNECTORS, gzip.compress(orjson.dumps(TRACKER)), Content_Encoding="gzip"
    )

    assert (reply.status, reply.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_the_limit_is_refused(shared: Shared, chunked: bool) -> None:  # noqa: FBT001
    body = b" " * (BODY_BYTES_MAX + 1)

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 64 * 1024):
            yield body[start : start + 64 * 1024]

    response = await shared.ada.client.post(
        CONNECTORS,
        data=chunks() if chunked else io.BytesIO(body),
        headers={
            "Authorization": f"Bearer {shared.ada.token}",
            "Content-Type": "application/json",
        },
    )

    assert ("Transfer-Encoding" in response.request_info.headers) == chunked
    assert response.status == 413
    assert (await response.json())["data"]["code"] == "too_large"


@pytest.mark.parametrize(
    "path",
    [
        CONNECTORS,
        "/v1/traces",
        "/api/llm-router/prices/imports/litellm?version=1",
    ],
)
async def test_a_malformed_chunk_is_refused_at_once(shared: Shared, path: str) -> None:
    superuser = await shared.callers.user(f"root{len(path)}", "superuser")
    headers = {
        "Authorization": f"Bearer {superuser.token}",
        "Content-Type": "application/json",
        "Transfer-Encoding": "chunked",
    }

    answer = await answer_to_body(
        superuser.client, f"POST {path}", headers, b"1\r\n{\r\nzz\r\n"
    )

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"the body is not valid chunked coding" in answer


async def test_a_chunk_that_is_none_is_refused_before_its_request_has_begun(
    shared: Shared,
) -> None:
    """Between two steps of the event loop, in which aiohttp starts the handler."""
    runner = shared.ada.client.server.runner
    assert runner is not None
    assert runner.server is not None
    connection: Any = runner.server()
    transport = MagicMock(asyncio.Transport)
    transport.is_closing.return_value = False
    answered = asyncio.Event()
    transport.write.side_effect = transport.writelines.side_effect = lambda _: (
        answered.set()
    )
    head = (
        f"POST {CONNECTORS} HTTP/1.1\r\nHost: test\r\n"
        f"Authorization: Bearer {shared.ada.token}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    connection.connection_made(transport)
    try:
        # aiohttp's task waits for a request.
        await asyncio.sleep(0)
        connection.data_received(head.encode())
        asyncio.get_running_loop().call_soon(connection.data_received, b"zz\r\n")

        await asyncio.wait_for(answered.wait(), TIMEOUT_S)
    finally:
        connection.connection_lost(None)

    sent = b"".join(
        bytes(each)
        for call in transport.mock_calls
        if call[0] in {"write", "writelines"}
        for each in ([call.args[0]] if call[0] == "write" else call.args[0])
    )
    assert sent.startswith(b"HTTP/1.1 400 ")


async def test_a_body_of_just_the_limit_is_read(shared: Shared) -> None:
    body = orjson.dumps(TRACKER)

    reply = await shared.ada.post(
        CONNECTORS, body + b" " * (BODY_BYTES_MAX - len(body))
    )

    assert reply.status == 201


@pytest.mark.parametrize(("body", "status"), [(b"{}", 404), (b'{"a":1}', 400)])
async def test_a_body_is_refused_where_none_is_declared(
    shared: Shared, body: bytes, status: int
) -> None:
    reply = await shared.ada.post(f"{CONNECTORS}/{uuid4()}/grants/public", body)

    assert reply.status == status


@pytest.mark.thorough
async def test_a_compressed_body_is_not_inflated_before_authentication(
    shared: Shared,
) -> None:
    """CPU time against a plain body of the same size; inflated it is a GB of zeros."""
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    zeros = bytes(2**20)
    bomb = b"".join(packer.compress(zeros) for _ in range(1024)) + packer.flush()

    async def cpu_time(**headers: str) -> float:
        started = time.process_time()
        response = await shared.ada.client.post(
            "/v1/traces", data=bomb, headers=headers
        )
        assert response.status == 401
        return time.process_time() - started

    plain = statistics.median([await cpu_time() for _ in range(5)])
    compressed = statistics.median(
        [await cpu_time(**{"Content-Encoding": "gzip"}) for _ in range(5)]
    )

    assert compressed < 20 * plain


async def test_the_connection_of_a_refused_body_is_closed(shared: Shared) -> None:
    head = await answer_to_head(
        shared.ada.client,
        f"POST {CONNECTORS}",
        {"Content-Type": "application/json", "Content-Length": "100000000"},
    )

    assert head.startswith(b"HTTP/1.1 401 ")
    assert b"\r\nConnection: close\r\n" in head
