"""Counting the parts of large JSON documents before they are parsed."""

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.http import json_bounds
from service.http.json_bounds import has_more_parts

JSON = st.recursive(
    st.none() | st.booleans() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def parts(value: object) -> int:
    """Count strings, opening brackets and commas."""
    if isinstance(value, str):
        return 1
    if isinstance(value, list):
        return 1 + max(len(value) - 1, 0) + sum(map(parts, value))
    if isinstance(value, dict):
        return 1 + max(len(value) - 1, 0) + len(value) + sum(map(parts, value.values()))
    return 0


@given(JSON, st.integers(2, 8))
def test_parts_are_counted_whatever_texts_contain(value: object, piece: int) -> None:
    document = orjson.dumps(value)
    count = parts(value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_bounds, "_PIECE_BYTES", piece)
        assert not has_more_parts(document, count)
        assert count == 0 or has_more_parts(document, count - 1)


@given(st.binary(), st.integers(0, 5))
def test_any_bytes_are_counted(document: bytes, parts_max: int) -> None:
    assert has_more_parts(document, parts_max) in (True, False)


@pytest.mark.parametrize(
    "repeated", [b"1,", b'"a"', b"[", b'["\\"', b",", b"\\", b'"\\']
)
@pytest.mark.parametrize("begun", [b"[", b'["'])
@pytest.mark.thorough
def test_counting_is_linear(begun: bytes, repeated: bytes) -> None:
    document = begun + repeated * 500_000

    assert _cpu_s(document + document) < 20 * max(_cpu_s(document), 0.01)


def _cpu_s(document: bytes) -> float:
    started = time.thread_time()
    has_more_parts(document, 1_000)
    return time.thread_time() - started
