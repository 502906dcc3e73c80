"""Which conversation a model call belongs to."""

from typing import Any

import pytest
from multidict import CIMultiDict

from service.model_gateway.calls.sessions import (
    HEADERS,
    conversation_of,
    session_of,
)

UUID = "0b5c1f6e-7d3a-4a57-9a44-0c1d2e3f4a5b"
SYSTEM = {"role": "system", "content": "Be short"}
HELLO = {"role": "user", "content": "Hello"}
ANSWER = {"role": "assistant", "content": "Hi"}
MORE = {"role": "user", "content": "More"}


@pytest.mark.parametrize("name", HEADERS)
def test_each_header_names_a_session(name: str) -> None:
    assert session_of(CIMultiDict({name.lower(): "one"}), {}) == "one"


@pytest.mark.parametrize(
    ("members", "session"),
    [
        ({"metadata": {"user_id": f"user_a_account__session_{UUID}"}}, UUID),
        ({"metadata": {"user_id": f'{{"session_id":"{UUID}"}}'}}, UUID),
        ({"metadata": {"session_id": "one"}}, "one"),
        ({"conversation": "conv_1"}, "conv_1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
        ({"prompt_cache_key": "key"}, "key"),
        ({"metadata": {"user_id": "somebody"}}, None),
        ({"metadata": {"user_id": '{"session_id":1}'}}, None),
        ({"metadata": {"user_id": "[1]"}}, None),
        ({"metadata": {"user_id": ["one"]}}, None),
        ({"metadata": "one"}, None),
        ({"conversation": ["one"]}, None),
        ({"prompt_cache_key": 1}, None),
        ({}, None),
    ],
)
def test_the_body_names_a_session(members: dict[str, Any], session: str | None) -> None:
    assert session_of({}, members) == session


@pytest.mark.parametrize("named", ["", "a\nb", "a" * 129])
def test_what_can_be_no_session_is_passed_over(named: str) -> None:
    headers = {"X-Session-Id": named}

    assert session_of(headers, {"prompt_cache_key": "key"}) == "key"
    assert session_of(headers, {"prompt_cache_key": named}) is None


def test_the_first_that_is_named_counts() -> None:
    members = {
        "metadata": {"session_id": "metadata"},
        "conversation": "conversation",
        "prompt_cache_key": "key",
    }
    headers = {name: name for name in reversed(HEADERS)}
    baggage = {"baggage": "session.id=of%20baggage", **headers}

    assert session_of(baggage, members) == "of baggage"
    assert session_of(headers, members) == HEADERS[0]
    assert session_of({}, members) == "metadata"
    del members["metadata"]
    assert session_of({}, members) == "conversation"


@pytest.mark.parametrize("name", ["messages", "input"])
def test_a_conversation_goes_on_from_its_beginning(name: str) -> None:
    begun = conversation_of({name: [SYSTEM, HELLO]})

    assert begun is not None
    assert conversation_of({name: [SYSTEM, HELLO, ANSWER, MORE]}) == begun
    assert conversation_of({name: [SYSTEM, MORE]}) != begun
    assert conversation_of({name: [HELLO]}) != begun


@pytest.mark.parametrize("name", ["system", "instructions"])
def test_what_the_model_is_told_is_of_the_conversation(name: str) -> None:
    plain = conversation_of({"messages": [HELLO]})

    assert conversation_of({"messages": [HELLO], name: "Be short"}) != plain


@pytest.mark.parametrize(
    "members",
    [{}, {"messages": []}, {"input": ""}, {"messages": [{"content": "\ud800"}]}],
)
def test_without_a_beginning_there_is_no_conversation(members: dict[str, Any]) -> None:
    assert conversation_of(members) is None


def test_an_input_may_be_a_text() -> None:
    assert conversation_of({"input": "Hi"}) == conversation_of({"input": "Hi"})
    assert conversation_of({"input": "Hi"}) != conversation_of({"input": "Ho"})
