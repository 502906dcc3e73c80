"""What an answer says of when its provider answers again."""

from typing import Any

import orjson
import pytest

from service.model_gateway.protocol.limited import is_of_provider, is_out_of_credit


@pytest.mark.parametrize(
    ("status", "error", "is_out"),
    [
        (402, None, True),
        (429, {"code": "insufficient_quota"}, True),
        (429, {"type": "insufficient_quota"}, True),
        (403, {"code": "billing_not_active"}, True),
        (400, {"message": "Your credit balance is too low to call us."}, True),
        (500, {"code": "insufficient_quota"}, False),
        (429, {"code": "rate_limit_exceeded"}, False),
        (400, {"message": "Invalid value: 'insufficient_quota'"}, False),
        (400, {"message": "No tool 'Your credit balance is too low'"}, False),
        (400, {"code": ["insufficient_quota"]}, False),
        (400, "insufficient_quota", False),
        (400, None, False),
    ],
)
def test_a_prompt_that_is_quoted_says_nothing_of_credit(
    status: int, error: Any, *, is_out: bool
) -> None:
    assert is_out_of_credit(status, orjson.dumps({"error": error})) is is_out


@pytest.mark.parametrize("body", [b"", b"insufficient_quota", b"[]", b'"x"', b"{"])
def test_what_is_no_error_of_an_api_says_nothing_of_credit(body: bytes) -> None:
    assert not is_out_of_credit(429, body)


@pytest.mark.parametrize(
    ("error", "is_of"),
    [
        ({"type": "overloaded_error"}, True),
        ({"code": "server_error"}, True),
        ({"type": "error", "code": "rate_limit_exceeded"}, True),
        ({"code": 502}, True),
        ({"code": 429}, True),
        ({"code": 400}, False),
        ({"code": "invalid_prompt"}, False),
        ({"type": "invalid_request_error"}, False),
        ({}, False),
        ("overloaded_error", False),
        (None, False),
    ],
)
def test_only_some_errors_in_a_stream_say_that_the_provider_is_broken(
    error: Any, *, is_of: bool
) -> None:
    assert is_of_provider(error) is is_of
