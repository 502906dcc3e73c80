"""What spans tell, in OpenInference and in the GenAI conventions, also badly."""

import math
from dataclasses import MISSING, fields, replace
from typing import Any

import orjson
import pytest

from service.sessions.otlp.conventions import SpanError, reported_span
from service.sessions.otlp.span import (
    KeptEntry,
    KeptSpan,
    ModelCall,
    ReportedSpan,
    kept_span,
)
from service.sessions.turn import TOKENS_MAX
from tests.support.sessions.otlp.spans import pairs, span


def told(**attributes: Any) -> ReportedSpan:
    return reported_span(span(1, **attributes))


def entry_of(found: ReportedSpan) -> Any:
    assert found.entry is not None
    return found.entry


def call(**words: Any) -> ModelCall:
    required = [
        field.name for field in fields(ModelCall) if field.default_factory is MISSING
    ]
    known: dict[str, Any] = {**dict.fromkeys(required), "scope": ""}
    return ModelCall(**{**known, "is_total": False, "is_stream_log": False, **words})


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            {
                "openinference__span__kind": "LLM",
                "llm__provider": "openai",
                "llm__system": "other",
                "llm__model_name": "gpt-4o-mini-2024-07-18",
                "llm__invocation_parameters": '{"model": "gpt-4o-mini"}',
                "llm__token_count__prompt": 10,
                "llm__token_count__completion": 2,
                "llm__token_count__prompt_details__cache_read": 3,
                "llm__token_count__prompt_details__cache_write": 4,
            },
            call(
                provider="openai",
                model="gpt-4o-mini-2024-07-18",
                asked_model="gpt-4o-mini",
                prompt_tokens=10,
                completion_tokens=2,
                cache_read_tokens=3,
                cache_creation_tokens=4,
            ),
        ),
        (
            {
                "gen_ai__operation__name": "chat",
                "gen_ai__provider__name": "anthropic",
                "gen_ai__request__model": "claude",
                "gen_ai__response__model": "claude-1",
                "gen_ai__usage__input_tokens": 10,
                "gen_ai__usage__output_tokens": 2,
                "gen_ai__usage__cache_read__input_tokens": 3,
            },
            call(
                provider="anthropic",
                model="claude-1",
                asked_model="claude",
                prompt_tokens=10,
                completion_tokens=2,
                cache_read_tokens=3,
            ),
        ),
        (
            {
                "gen_ai__system": "openai",
                "gen_ai__usage__prompt_tokens": 10,
                "gen_ai__usage__completion_tokens": 2,
            },
            call(provider="openai", prompt_tokens=10, completion_tokens=2),
        ),
        # The cache beside the input: together they are what went in.
        (
            {
                "gen_ai__usage__input_tokens": 10,
                "gen_ai__usage__cache_read__input_tokens": 100,
            },
            call(prompt_tokens=110, cache_read_tokens=100),
        ),
        (
            {
                "gen_ai__usage__output_tokens": 1,
                "gen_ai__usage__cache_read__input_tokens": 100,
            },
            call(completion_tokens=1),
        ),
        # The names of the OpenTelemetry utilities, OpenLLMetry and Anthropic.
        (
            {
                "gen_ai__usage__input_tokens": 10,
                "gen_ai__usage__cache_write__input_tokens": 4,
                "gen_ai__usage__reasoning__output_tokens": 5,
                "anthropic__usage__cache_creation__ephemeral_1h_input_tokens": 4,
                "anthropic__response__service_tier": "standard",
                "gen_ai__response__id": "msg_1",
                "gen_ai__usage__cost": 0.25,
            },
            call(
                prompt_tokens=10,
                cache_creation_tokens=4,
                details={"output_reasoning_tokens": 5, "cache_write_1h_tokens": 4},
                conditions={"service_tier": "default"},
                response_id="msg_1",
                reported_cost="0.25",
            ),
        ),
        # The total says that the cache is beside the input.
        (
            {
                "gen_ai__usage__input_tokens": 10,
                "gen_ai__usage__output_tokens": 3,
                "gen_ai__usage__total_tokens": 18,
                "gen_ai__usage__cache_read_input_tokens": 5,
            },
            call(prompt_tokens=15, completion_tokens=3, cache_read_tokens=5),
        ),
        # An embedding has no output; a call without usage is still a call.
        (
            {
                "openinference__span__kind": "EMBEDDING",
                "embedding__model_name": "small",
                "llm__token_count__prompt": 8,
            },
            call(model="small", prompt_tokens=8, completion_tokens=0),
        ),
        (
            {"openinference__span__kind": "LLM", "llm__model_name": "swift"},
            call(model="swift"),
        ),
        (
            {
                "openinference__span__kind": "LLM",
                "output__value": '{"id": "gen-1", "usage": {"cost": 0.0003}}',
            },
            call(response_id="gen-1", reported_cost="0.0003"),
        ),
        ({"llm__token_count__prompt": 7.0}, call(prompt_tokens=7)),
        ({"llm__token_count__prompt": 7.5}, None),
        ({"llm__token_count__prompt": -1}, None),
        ({"llm__token_count__prompt": TOKENS_MAX + 1}, None),
        ({"llm__token_count__prompt": "7"}, call(prompt_tokens=7)),
        ({"llm__token_count__prompt": "7 tokens"}, None),
        ({"llm__token_count__prompt": True}, None),
        ({"llm__token_count__prompt": float("nan")}, None),
        ({"llm__model_name": "swift"}, None),
        (
            {"llm__token_count__prompt": 1, "llm__model_name": "\0"},
            call(prompt_tokens=1),
        ),
        (
            {"llm__token_count__prompt": 1, "llm__invocation_parameters": "[1]"},
            call(prompt_tokens=1),
        ),
        (
            {"llm__token_count__prompt": 1, "openinference__span__kind": "AGENT"},
            call(prompt_tokens=1, is_total=True),
        ),
        (
            {
                "gen_ai__usage__input_tokens": 1,
                "gen_ai__operation__name": "invoke_agent",
            },
            call(prompt_tokens=1, is_total=True),
        ),
    ],
)
def test_what_a_call_took(
    attributes: dict[str, Any], expected: ModelCall | None
) -> None:
    found = told(**attributes).call

    assert (found and replace(found, untold=())) == expected


MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "content": "first"}]},
    {"role": "assistant", "parts": [{"type": "text", "content": "hm"}]},
    {
        "role": "user",
        "parts": [
            {"type": "text", "content": "one"},
            {"type": "blob", "content": "AAAA"},
            {"type": "text", "content": "two"},
        ],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "response": "x"}]},
]
ANSWER = [{"role": "assistant", "parts": [{"type": "text", "content": "42"}]}]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"input__value": "q", "output__value": "a"}, ("q", "a")),
        ({"input__value": {"a": [1, True]}}, ('{"a":[1,true]}', None)),
        (
            {
                "gen_ai__input__messages": orjson.dumps(MESSAGES).decode(),
                "gen_ai__output__messages": orjson.dumps(ANSWER).decode(),
            },
            ("one\ntwo", "42"),
        ),
        (
            {"gen_ai__input__messages": MESSAGES, "gen_ai__output__messages": ANSWER},
            ("one\ntwo", "42"),
        ),
        (
            {"gen_ai__input__messages": '[{"role": "user", "content": "q"}]'},
            ("q", None),
        ),
        ({"gen_ai__input__messages": "no JSON"}, ("no JSON", None)),
        ({"gen_ai__input__messages": "[1, {}]"}, ("[1, {}]", None)),
        ({"gen_ai__prompt": "p", "gen_ai__completion": "c"}, ("p", "c")),
        ({"input__value": "", "output__value": ""}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_what_went_in_and_came_out(
    attributes: dict[str, Any], expected: tuple[str | None, str | None]
) -> None:
    texts = entry_of(told(**attributes)).texts

    assert (texts.input, texts.output) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("s", "s"),
        (" s\n", "s"),
        (42, "42"),
        ("", None),
        ("  ", None),
        ("é" * 128, "é" * 128),
        (math.nan, None),
        (math.inf, None),
        (4.5, None),
        (True, None),
        ([], None),
        (["s"], None),
    ],
)
def test_the_session_that_a_span_names(given: Any, expected: str | None) -> None:
    assert told(session__id=given).session_id == expected
    assert told(gen_ai__conversation__id=given).session_id == expected


@pytest.mark.parametrize("session_id", ["list", "..", "a\0b", "x" * 129])
def test_a_session_that_can_t_be_is_refused(session_id: str) -> None:
    with pytest.raises(SpanError, match="the session id is not valid"):
        told(session__id=session_id)


def test_an_error_is_in_the_status_or_in_the_exception() -> None:
    thrown = span(1, error="")
    thrown.events.add(
        name="exception",
        attributes=pairs({"exception.type": "ValueError", "exception.message": "no"}),
    )

    assert entry_of(reported_span(span(1, error="boom"))).texts.error == "boom"
    assert entry_of(reported_span(thrown)).texts.error == "ValueError: no"
    assert entry_of(reported_span(span(1, error=""))).texts.error is None
    assert entry_of(reported_span(span(1, error=""))).is_error
    assert not entry_of(reported_span(span(1))).is_error


def test_a_span_below_another_one_has_nothing_of_a_turn() -> None:
    tool: Any = {"openinference__span__kind": "TOOL"}
    found = reported_span(span(2, 1, input__value="no", error="no", **tool))

    assert found.entry is None
    assert not found.is_relevant


def test_a_call_that_failed_before_its_answer_is_free() -> None:
    chat: Any = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "swift"}

    assert reported_span(span(2, 1, error="429", **chat)).call is None
    begun = span(2, 1, error="cut", gen_ai__response__id="msg_1", **chat)
    assert reported_span(begun).call is not None


MESSAGE = {
    "llm__input_messages__0__message__role": "user",
    "llm__input_messages__0__message__content": "q",
    "llm__output_messages__0__message__role": "assistant",
    "llm__output_messages__0__message__contents__0__message_content__type": "text",
    "llm__output_messages__0__message__contents__0__message_content__text": "a",
    "input__value": '{"messages": []}',
    "output__value": "{}",
}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (MESSAGE, ("q", True, "a", True)),
        ({"input__value": "{}"}, ("{}", False, None, False)),
        (
            {"gen_ai__prompt__0__role": "user", "gen_ai__prompt__0__content": "q"},
            ("q", True, None, False),
        ),
    ],
)
def test_texts_of_a_span_below_another_one(
    attributes: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    texts = reported_span(span(2, 1, **attributes)).texts

    assert (
        texts.input,
        texts.input_is_plain,
        texts.output,
        texts.output_is_plain,
    ) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"trace_id": b""},
        {"trace_id": bytes(16)},
        {"trace_id": b"x" * 15},
        {"span_id": bytes(8)},
        {"span_id": b"x"},
        {"parent_span_id": b"x"},
        {"start_time_unix_nano": 0},
        {"end_time_unix_nano": 1},
    ],
)
def test_a_span_that_can_t_be_is_refused(fields: dict[str, Any]) -> None:
    broken = span(1)
    for name, given in fields.items():
        setattr(broken, name, given)

    with pytest.raises(SpanError):
        reported_span(broken)


@pytest.mark.parametrize("field", ["start_time_unix_nano", "end_time_unix_nano"])
@pytest.mark.parametrize(
    ("unit", "in_a_second"),
    [
        ("seconds", 1),
        ("milliseconds", 10**3),
        ("microseconds", 10**6),
        ("units of 100 nanoseconds", 10**7),
    ],
)
def test_a_time_in_another_unit_is_refused_with_its_name(
    unit: str, in_a_second: int, field: str
) -> None:
    # Also if the other time is in nanoseconds.
    broken = span(1)
    setattr(broken, field, 1_772_366_400 * in_a_second)

    with pytest.raises(SpanError, match=f"is 19.*, and is probably in {unit}$"):
        reported_span(broken)


def test_a_time_long_ago_is_refused() -> None:
    broken = span(1)
    broken.start_time_unix_nano = 777_777_777 * 10**9

    with pytest.raises(SpanError, match=r"777777777000000000 is 1994-08-25$"):
        reported_span(broken)


def test_a_value_that_is_nested_without_end_is_cut() -> None:
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]

    text = entry_of(told(input__value=deep)).texts.input

    assert text == "[" * 16 + "null" + "]" * 16


def test_what_a_later_version_keeps_of_a_span_is_ignored() -> None:
    # given
    entry = KeptEntry(
        is_root=True,
        ended_at="2026-03-01T12:00:00+00:00",
        user_id=None,
        is_error=False,
        owner="",
        sealed_input=None,
        sealed_output=None,
        sealed_error=None,
    )
    given = told(openinference__span__kind="LLM", llm__token_count__prompt=10)
    kept = kept_span(given, entry)
    written = kept.to_json()

    # when
    for part in (written, written["entry"], written["call"]):
        part["later"] = 1

    # then
    assert KeptSpan.from_json(kept.span_id, written) == kept
