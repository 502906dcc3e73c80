"""What the events of a stream say of the whole answer, however it is cut."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model_gateway.calls.figures import Figures
from service.model_gateway.dialects import Dialect
from service.model_gateway.protocol.streams import ModelStream, stream_of
from service.model_gateway.protocol.usage import figures_of
from service.upstream_http.event_scanner import EventScanner
from tests.unit.model_gateway.usages import CHAT, MESSAGES, RESPONSES, counts_of

DONE = b"data: [DONE]\n\n"


def event(document: Any, kind: str = "") -> bytes:
    name = f"event: {kind}\n" if kind else ""
    return b"%bdata: %b\n\n" % (name.encode(), orjson.dumps(document))


def chunk(text: str = "", usage: Any = None, **other: Any) -> bytes:
    choices = [{"index": 0, "delta": {"content": text}}] if text else []
    document = {"id": "c-1", "model": "swift-1-2026", "choices": choices}
    return event({**document, "usage": usage, **other})


def of_response(kind: str, **response: Any) -> bytes:
    begun = {"id": "resp_1", "model": "swift-1-2026", "output": [], **response}
    return event({"type": f"response.{kind}", "response": begun}, f"response.{kind}")


def of_message(kind: str, **members: Any) -> bytes:
    return event({"type": kind, **members}, kind)


def start(**usage: Any) -> bytes:
    message = {"id": "msg_1", "model": "swift-1-2026", "content": [], "usage": usage}
    return of_message("message_start", message=message)


def of_delta(**usage: Any) -> bytes:
    stop = {"stop_reason": "end_turn"}
    return of_message("message_delta", delta=stop, usage=usage)


TEXT = of_message(
    "content_block_delta",
    index=0,
    delta={"type": "text_delta", "text": 'a "usage" of message_delta'},
)
STOP = of_message("message_stop")
STARTED = start(
    input_tokens=9,
    cache_read_input_tokens=100,
    cache_creation_input_tokens=30,
    cache_creation={"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
    output_tokens=1,
    output_tokens_details={"thinking_tokens": 0},
    service_tier="priority",
)
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
RESPONSE_USAGE = {
    "input_tokens": 9,
    "output_tokens": 2,
    "output_tokens_details": {"reasoning_tokens": 1},
}
INPUT = {
    "input_tokens": 139,
    "cache_read_tokens": 100,
    "cache_write_tokens": 30,
    "cache_write_5m_tokens": 20,
    "cache_write_1h_tokens": 10,
}
COUNTED = {"input_tokens": 9, "output_tokens": 2}
STREAMS: dict[str, tuple[Dialect, Sequence[bytes], dict[str, int]]] = {
    "chat": (CHAT, (chunk("Hel"), chunk("lo"), chunk(usage=USAGE), DONE), COUNTED),
    "usage in a chunk with a choice": (
        CHAT,
        (chunk("Hel"), chunk("lo", USAGE), DONE),
        COUNTED,
    ),
    "usage in every chunk": (
        CHAT,
        (
            chunk("Hel", {**USAGE, "completion_tokens": 1}),
            chunk("lo", USAGE),
            chunk(usage=None),
            DONE,
        ),
        COUNTED,
    ),
    "usage in every chunk, cut": (CHAT, (chunk("Hel", USAGE), chunk("lo", USAGE)), {}),
    "usage in every chunk, then an error": (
        CHAT,
        (chunk("Hel", USAGE), event({"error": {"message": "busy"}})),
        {},
    ),
    "cut after the last chunk": (
        CHAT,
        (chunk("Hel", USAGE), chunk(usage=USAGE)),
        COUNTED,
    ),
    "cut after the last chunk with a choice": (
        CHAT,
        (chunk(choices=[{"index": 0, "finish_reason": "stop"}], usage=USAGE),),
        COUNTED,
    ),
    "an empty usage at last": (
        CHAT,
        (chunk("a", USAGE), chunk("b", {}), DONE),
        COUNTED,
    ),
    "chat without usage": (CHAT, (chunk("Hello"), DONE), {}),
    "completed": (
        RESPONSES,
        (
            of_response("created", service_tier="auto", usage=None),
            event({"type": "response.output_text.delta", "delta": '"usage"'}),
            of_response("completed", service_tier="flex", usage=RESPONSE_USAGE),
        ),
        {**COUNTED, "output_reasoning_tokens": 1},
    ),
    "incomplete": (
        RESPONSES,
        (of_response("created"), of_response("incomplete", usage=RESPONSE_USAGE)),
        {**COUNTED, "output_reasoning_tokens": 1},
    ),
    "failed": (
        RESPONSES,
        (of_response("created"), of_response("failed", usage=RESPONSE_USAGE)),
        {**COUNTED, "output_reasoning_tokens": 1},
    ),
    "a response without its end": (
        RESPONSES,
        (of_response("created"), of_response("in_progress", usage=RESPONSE_USAGE)),
        {},
    ),
    "a message": (
        MESSAGES,
        (STARTED, TEXT, of_delta(output_tokens=5), STOP),
        {**INPUT, "output_tokens": 5},
    ),
    "a message that counts all at last": (
        MESSAGES,
        (
            STARTED,
            TEXT,
            of_delta(output_tokens=3),
            of_delta(
                input_tokens=19,
                cache_read_input_tokens=200,
                cache_creation_input_tokens=None,
                output_tokens=8,
                output_tokens_details={"thinking_tokens": 4},
                server_tool_use={"web_search_requests": 1},
            ),
            STOP,
        ),
        {
            **INPUT,
            "input_tokens": 249,
            "cache_read_tokens": 200,
            "output_tokens": 8,
            "output_reasoning_tokens": 4,
            "web_searches": 1,
        },
    ),
    "a message without its end": (MESSAGES, (STARTED, TEXT, TEXT), INPUT),
    "a message that ends without a count": (MESSAGES, (STARTED, of_delta()), INPUT),
    "a message with an error": (
        MESSAGES,
        (STARTED, TEXT, of_message("error", error={"type": "overloaded_error"})),
        INPUT,
    ),
}


def fed(dialect: Dialect, pieces: Sequence[bytes], **other: Any) -> ModelStream:
    stream = stream_of(dialect, **{"withholds_usage": False, **other})
    assert stream is not None
    scanner = EventScanner(stream.markers, stream.examine)
    for piece in pieces:
        scanner.feed(piece)
    scanner.end()
    return stream


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_says_its_usage(name: str) -> None:
    dialect, events, expected = STREAMS[name]

    figures = fed(dialect, events).figures

    assert counts_of(figures.usage) == expected
    if expected:
        assert figures.model == "swift-1-2026"
        assert figures.response_id in ("c-1", "resp_1", "msg_1")


@given(st.sampled_from([*STREAMS]), st.data())
def test_cuts_change_nothing(name: str, data: st.DataObject) -> None:
    dialect, events, _ = STREAMS[name]
    line_end = data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    whole = b"".join(events).replace(b"\n", line_end)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=9)))
    ends = [*cuts, len(whole)]
    pieces = [whole[a:b] for a, b in zip([0, *cuts], ends, strict=True)]

    assert fed(dialect, pieces).figures == fed(dialect, events).figures


def test_a_withheld_chunk_says_the_usage() -> None:
    dialect, events, expected = STREAMS["chat"]

    figures = fed(dialect, events, withholds_usage=True).figures

    assert counts_of(figures.usage) == expected
    assert figures == fed(dialect, events).figures


def test_a_stream_of_chat_says_the_tier() -> None:
    last = chunk(usage=USAGE, service_tier="flex")

    usage = fed(CHAT, (chunk("Hello"), last, DONE)).figures.usage

    assert usage is not None
    assert usage.conditions == {"service_tier": "flex"}


@pytest.mark.parametrize(
    ("name", "conditions"),
    [
        ("completed", {"service_tier": "flex"}),
        ("a message", {"service_tier": "priority"}),
    ],
)
def test_other_streams_say_the_tier(name: str, conditions: dict[str, str]) -> None:
    dialect, events, _ = STREAMS[name]

    usage = fed(dialect, events).figures.usage

    assert usage is not None
    assert usage.conditions == conditions


def test_a_stream_says_what_the_whole_answer_would() -> None:
    whole = {"id": "c-1", "model": "swift-1-2026", "usage": USAGE}

    assert fed(*STREAMS["chat"][:2]).figures == figures_of(CHAT, whole)


def test_a_response_that_was_cut_says_its_names() -> None:
    figures = fed(RESPONSES, [of_response("created")]).figures

    assert figures == Figures(model="swift-1-2026", response_id="resp_1")


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, MESSAGES])
@pytest.mark.parametrize("odd", [None, True, -1, "9", [], [9], {}, {"a": {"b": 9}}])
def test_odd_events_say_nothing(dialect: Dialect, odd: Any) -> None:
    events = [
        event({"usage": odd, "id": odd, "model": odd, "choices": odd}),
        of_message("message_start", message=odd),
        start(input_tokens=odd),
        of_message("message_start", message={"usage": odd}),
        of_message("message_delta", usage=odd),
        of_delta(output_tokens=odd),
        event({"type": "response.completed", "response": odd}),
        of_response("completed", usage=odd, id=odd, model=odd),
    ]

    assert fed(dialect, events).figures.usage is None


def test_what_a_message_counts_besides_is_not_kept() -> None:
    deltas = [of_delta(**{f"unknown_{number}": number}) for number in range(99)]

    stream = fed(MESSAGES, [STARTED, *deltas])

    assert counts_of(stream.figures.usage) == INPUT
    assert len(stream._said["usage"]) < 10  # noqa: SLF001
