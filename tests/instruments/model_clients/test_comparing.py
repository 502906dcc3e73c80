"""Each difference between two requests is found, but for documented edits."""

from dataclasses import replace
from typing import Any

import pytest

from tests.instruments.model_clients.comparing import request_differences
from tests.instruments.model_clients.provider import Received

HEADERS = [("X-One", "1"), ("Host", "provider"), ("x-api-key", "sk-1")]
BODY = b'{"model":"fable-1","stream":true,"id":"00000000-0000-4000-8000-%012d"}'
REQUEST = Received("POST v1/messages?beta=true", HEADERS, BODY % 1)


def test_what_is_of_the_connection_or_of_a_run_is_no_difference() -> None:
    headers = [("x-one", "1"), ("host", "gateway"), ("Authorization", "Bearer agt_1")]
    asked = BODY.replace(b"true", b'true,"stream_options":{"include_usage":true}')
    looked = Received("HEAD v1", [], b"")

    other = replace(REQUEST, headers=headers, body=asked % 2)

    assert request_differences([REQUEST], [looked, other]) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"target": "POST v1/messages"},
        {"headers": HEADERS[1:]},
        {"headers": [*HEADERS, ("X-One", "1")]},
        {"headers": [("X-One", "2"), *HEADERS[1:]]},
        {"body": BODY.replace(b":true", b": true") % 1},
        {"body": BODY.replace(b"fable-1", b"fable-2") % 1},
        {"left": True},
    ],
)
def test_everything_else_is_one(changed: dict[str, Any]) -> None:
    found = request_differences([REQUEST], [replace(REQUEST, **changed)])

    assert len(found) == 1


def test_a_missing_request_is_a_difference() -> None:
    assert request_differences([REQUEST, REQUEST], [REQUEST]) != []
    assert request_differences([REQUEST], [REQUEST, REQUEST]) != []
