"""GraphQL over HTTP, with bounded time, size and concurrency."""

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import orjson

from projections.sessions.phoenix.documents import Document

REQUESTS_AT_ONCE: Final = 4
ANSWER_BYTES_MAX: Final = 4 * 1024 * 1024
# Above the deadline of pages; a bound for longer ones.
REQUEST_TIMEOUT_S: Final = 30.0


class StoreError(Exception):
    """The store is unreachable, failing, or rejects our token."""


class DocumentError(Exception):
    """The store works, but has no usable answer to this document."""


@dataclass(frozen=True, slots=True)
class GraphQLAnswer:
    """``data`` by alias; ``failed`` are the aliases with an error in some part."""

    data: dict[str, Any]
    failed: frozenset[str]


@dataclass(slots=True)
class GraphQLClient:
    """Client of ``{base_url}/graphql``; redirects, which would leak the token, fail."""

    base_url: str
    http: aiohttp.ClientSession
    at_once: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(REQUESTS_AT_ONCE)
    )

    async def ask(self, document: Document) -> GraphQLAnswer:
        """Send a document, at most ``REQUESTS_AT_ONCE`` at a time.

        :raises StoreError: no answer, or not a GraphQL answer
        :raises DocumentError: the answer has no data, or is too long
        """
        body = orjson.dumps({"query": document.query, "variables": document.variables})
        async with self.at_once:
            try:
                return _parsed(await self._post(body))
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                raise StoreError(f"no answer: {type(error).__name__}") from None

    async def _post(self, body: bytes) -> bytes:
        async with self.http.post(
            f"{self.base_url}/graphql", data=body, allow_redirects=False
        ) as response:
            if response.status != HTTPStatus.OK:
                raise StoreError(f"answered {response.status}")
            received = bytearray()
            async for chunk in response.content.iter_any():
                received += chunk
                if len(received) > ANSWER_BYTES_MAX:
                    raise DocumentError(f"more than {ANSWER_BYTES_MAX} bytes")
        return bytes(received)


def http_session(token: str | None) -> aiohttp.ClientSession:
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return aiohttp.ClientSession(
        headers=headers,
        # An answer that is compressed nevertheless is rejected as not JSON.
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        connector=aiohttp.TCPConnector(limit=REQUESTS_AT_ONCE),
        timeout=aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S),
    )


def _parsed(received: bytes) -> GraphQLAnswer:
    try:
        answer = orjson.loads(received)
    except orjson.JSONDecodeError:
        raise StoreError("the answer is not JSON") from None
    if not isinstance(answer, dict) or not answer.keys() & {"data", "errors"}:
        raise StoreError("the answer is not GraphQL")
    data, errors = answer.get("data"), answer.get("errors") or []
    if not isinstance(errors, list):
        raise StoreError("the answer is not GraphQL")
    if not isinstance(data, dict):
        raise DocumentError("no data")
    failed: set[str] = set()
    for error in errors:
        path = error.get("path") if isinstance(error, dict) else None
        if not isinstance(path, list) or not path or not isinstance(path[0], str):
            raise DocumentError("the GraphQL document was rejected")
        failed.add(path[0])
    return GraphQLAnswer(data, frozenset(failed))
