"""JSON-RPC messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import orjson

from service.errors import MalformedRequestError
from service.gateway.protocol.errors import INVALID_REQUEST, PARSE_ERROR, RpcError
from service.http.json_body import parse_document
from service.http.json_bounds import JSON_VALUES_MAX

RequestId = str | int


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification, whose ``id`` is None. ``method`` None: an answer.

    An answer is a client's, to what it was asked within a call; its ``params`` are
    ``result`` or ``error``.
    """

    id: RequestId | None
    method: str | None
    params: Mapping[str, Any]

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def parse_message(body: bytes, values_max: int = JSON_VALUES_MAX) -> Message:
    """Parse the body of a POST, which is one message.

    :raises RpcError: it isn't
    """
    try:
        document = parse_document(body, values_max)
    except MalformedRequestError as error:
        code = PARSE_ERROR if error.code == "not_json" else INVALID_REQUEST
        raise RpcError(code, error.message) from None
    if not isinstance(document, dict) or document.get("jsonrpc") != "2.0":
        raise RpcError(
            INVALID_REQUEST, "the body must be one JSON-RPC 2.0 object, not a batch"
        )
    method, message_id = document.get("method"), document.get("id")
    if "id" in document and not is_request_id(message_id):
        raise RpcError(INVALID_REQUEST, "an id is a string or an integer")
    if method is None and message_id is not None and document.keys() & _OUTCOMES:
        outcome = {key: document[key] for key in _OUTCOMES & document.keys()}
        return Message(message_id, None, outcome)
    if not isinstance(method, str):
        raise InvalidMessageError(message_id, "a message needs a method")
    params = document.get("params")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise InvalidMessageError(message_id, "params must be an object")
    params = _without_nulls(params)
    if isinstance(meta := params.get("_meta"), dict):
        params["_meta"] = _without_nulls(meta)
    return Message(message_id, method, params)


def _without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that have values; many clients write null for none."""
    if None not in fields.values():
        return fields
    return {name: value for name, value in fields.items() if value is not None}


class InvalidMessageError(RpcError):
    """The message can't be used, but its id can be read."""

    def __init__(self, message_id: RequestId | None, message: str) -> None:
        super().__init__(INVALID_REQUEST, message)
        self.id = message_id


def result_of(message_id: RequestId | None, result: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": message_id, "result": result})


def error_of(message_id: RequestId | None, error: RpcError) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": message_id, "error": error.to_json()})


def is_request_id(value: Any) -> TypeGuard[RequestId]:
    return isinstance(value, str | int) and not isinstance(value, bool)


_OUTCOMES = {"result", "error"}
