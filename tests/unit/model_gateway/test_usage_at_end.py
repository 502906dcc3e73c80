"""What the last bytes of a large answer say of it, and what can't mislead."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model_gateway.calls.figures import Figures
from service.model_gateway.dialects import Dialect
from service.model_gateway.protocol.usage import (
    OCCURRENCES_MAX,
    figures_at_end,
    figures_of,
)

END_BYTES = 64 * 1024
EMBEDDINGS = Dialect.OPENAI_EMBEDDINGS
USAGE = {"prompt_tokens": 8_191, "total_tokens": 8_191}
VECTORS = [
    {"object": "embedding", "index": index, "embedding": [0.0123] * 1_536}
    for index in range(20)
]


def end_of(document: Any) -> bytes:
    return orjson.dumps(document)[-END_BYTES:]


def test_the_names_behind_the_usage_are_known_and_no_others() -> None:
    document = {"id": "e-1", "data": VECTORS, "usage": USAGE, "model": "embed-1"}
    usage = figures_of(EMBEDDINGS, document).usage

    assert usage is not None
    assert figures_at_end(EMBEDDINGS, end_of(document)) == Figures(
        usage=usage, model="embed-1"
    )
    spaced = orjson.dumps(document, option=orjson.OPT_INDENT_2)[-END_BYTES:] + b"\r\n"
    assert figures_at_end(EMBEDDINGS, spaced).usage == usage


@pytest.mark.parametrize(
    "behind",
    [
        {"note": {"usage": {"prompt_tokens": 1}}},
        {"notes": [{"usage": {"prompt_tokens": 1}}]},
        {"notes": ["usage", '"usage"', '{"usage":{"prompt_tokens":1}}']},
        {"notes": [{"usage": None}] * (OCCURRENCES_MAX - 1)},
        {"note": {"a": {"usage": {"prompt_tokens": 1}, "b": "}"}}},
    ],
)
def test_what_is_within_another_member_is_not_the_usage(behind: Any) -> None:
    document = {"data": VECTORS, "usage": USAGE, **behind}

    usage = figures_of(EMBEDDINGS, document).usage

    assert usage is not None
    assert figures_at_end(EMBEDDINGS, end_of(document)).usage == usage


def test_only_so_many_places_are_searched() -> None:
    behind = {"notes": [{"usage": None}] * OCCURRENCES_MAX}

    assert figures_at_end(EMBEDDINGS, end_of({"usage": USAGE, **behind})) == Figures()


@pytest.mark.parametrize(
    "end",
    [
        b"",
        b"}",
        b'"usage"',
        b'"usage":',
        b'"usage":{"prompt_tokens":1}',
        b'"usage":{"prompt_tokens":1}}]',
        b'[{"usage":{"prompt_tokens":1}}]',
        b'{"data":{"usage":{"prompt_tokens":1}}}',
        b'{"text":"usage","usages":{"prompt_tokens":1}}',
        b'"usage":' + b'{"a":' * 2_000 + b"1" + b"}" * 2_001,
        b'"usage":{"prompt_tokens":1},"x":"\xff"}',
    ],
)
def test_an_end_without_a_usage_says_nothing(end: bytes) -> None:
    assert figures_at_end(EMBEDDINGS, end) == Figures()


@given(st.sampled_from(Dialect), st.binary() | st.text().map(str.encode), st.data())
def test_no_end_is_an_error(dialect: Dialect, end: bytes, data: st.DataObject) -> None:
    whole = end + orjson.dumps({"usage": USAGE}) + end
    cut = data.draw(st.integers(0, len(whole)))

    assert isinstance(figures_at_end(dialect, whole[cut:]), Figures)
    assert isinstance(figures_at_end(dialect, whole[:cut]), Figures)


@given(st.integers(0, 400))
def test_a_cut_before_the_usage_changes_nothing(cut: int) -> None:
    document = orjson.dumps({"data": VECTORS[:1], "usage": USAGE, "model": "m"})

    assert figures_at_end(EMBEDDINGS, document[cut:]) == figures_at_end(
        EMBEDDINGS, document
    )
