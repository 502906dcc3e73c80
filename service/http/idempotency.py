"""Idempotency keys: a repeated request gets the answer that was kept for its key.

Only successes are kept: a refusal changed nothing, so it is decided anew.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_bytes
from typing import Any, Final

import orjson
from aiohttp import web

from service.errors import InvalidRequestError, MalformedRequestError, Problem
from service.event_log.append import Receipt
from service.http.app_keys import KEY_RING
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer, render
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import KEY_HEADER, NO_KEY_TAKEN, OPERATION
from service.http.preferences import STRICT, prefers_strict
from service.http.telemetry import count_of

_KEY: Final = re.compile(r"[ -~]{1,255}")


@dataclass(frozen=True, slots=True)
class SeededToken:
    """A new token, for the field ``token`` of an answer that is kept without it.

    The seed is kept in its place: from this and the request's Idempotency-Key, of which
    only a hash is kept, ``make`` makes the token again for a repeated request.
    """

    request: web.Request
    make: Callable[[bytes], str]
    seed: bytes = field(default_factory=partial(token_bytes, 32))

    @property
    def text(self) -> str:
        return self.made_from(self.seed)

    def made_from(self, seed: bytes) -> str:
        key = self.request.headers.get(KEY_HEADER, "")
        given = key.encode("utf-8", "surrogatepass")
        return self.make(self.request.app[KEY_RING].token_entropy(seed, given))


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """The key that a request's answer is kept under, and the request's fingerprint."""

    key: bytes
    fingerprint: bytes

    def receipt(self, answer: Answer[Any], token: SeededToken | None) -> Receipt:
        headers = dict(answer.headers)
        if answer.etag is not None:
            headers["ETag"] = f'"{answer.etag}"'
        kept = {"status": answer.status, "headers": headers}
        if token is not None:
            kept["seed"] = token.seed.hex()
            answer = replace(answer, data={**answer.data, "token": None})
        kept["body"] = render(answer).decode()
        return Receipt(
            key=self.key, request=self.fingerprint, answer=orjson.dumps(kept)
        )

    def replay(self, receipt: Receipt, token: SeededToken | None) -> Answer[Any]:
        """Return the answer that was kept, with its token made again.

        :raises InvalidRequestError: the key was used for another request
        """
        if receipt.request != self.fingerprint:
            raise InvalidRequestError(
                "this Idempotency-Key was used for another request",
                code="idempotency_key_reused",
            )
        kept = orjson.loads(receipt.answer)
        body: bytes = kept["body"].encode()
        if token is not None:
            envelope = orjson.loads(body)
            envelope["data"]["token"] = token.made_from(bytes.fromhex(kept["seed"]))
            body = orjson.dumps(envelope)
        headers = {**kept["headers"], "Idempotent-Replayed": "true"}
        if receipt.position is not None:
            headers[POSITION_HEADER] = str(receipt.position)
        count_of("replayed").inc()
        return Answer(
            message="",
            data=None,
            status=kept["status"],
            headers=headers,
            body=body,
        )


async def idempotent_request(request: web.Request) -> IdempotentRequest | None:
    """Return the request's key and fingerprint, or None for a request without a key.

    A key counts for one user, method and path.

    :raises MalformedRequestError: the key isn't valid, or the operation takes none
    """
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return None
    if not request[OPERATION].idempotent_key:
        raise MalformedRequestError(
            NO_KEY_TAKEN,
            problems=[Problem(KEY_HEADER, "not supported here")],
        )
    if not _KEY.fullmatch(key):
        raise MalformedRequestError(
            "an Idempotency-Key has 1 to 255 printable ASCII characters",
            problems=[Problem(KEY_HEADER, "not valid")],
        )
    scope = [str(request[PRINCIPAL].user_id), request.method, request.path, key]
    return IdempotentRequest(
        key=hashlib.sha256(orjson.dumps(scope)).digest(),
        fingerprint=await _fingerprint(request),
    )


async def _fingerprint(request: web.Request) -> bytes:
    """Keyed, because a body can hold a secret that is easy to guess."""
    body = await request.read()
    parts = [request.raw_path.encode(), request.headers.get("If-Match", "").encode()]
    if request[OPERATION].takes_handling and prefers_strict(request):
        parts.append(STRICT.encode())
    return request.app[KEY_RING].request_fingerprint(*parts, body)
