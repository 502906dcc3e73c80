"""The fuzz targets with bytes of Hypothesis; atheris goes on by hand: fuzz.py."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.instruments.security.fuzz_seeds import SEEDS
from tests.instruments.security.fuzz_targets import TARGETS

EDITS = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 8), st.binary(max_size=8)),
    max_size=4,
)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_reader_keeps_its_promises_whatever_the_bytes(
    name: str, data: st.DataObject
) -> None:
    TARGETS[name](data.draw(bytes_near(name)))


def bytes_near(name: str) -> st.SearchStrategy[bytes]:
    """Any bytes, or bytes that the reader takes with a few of them changed."""
    edited = st.builds(_edited, st.sampled_from(SEEDS[name]), EDITS)
    return edited | st.binary(max_size=200)


def _edited(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, new in edits:
        begin = place % (len(seed) + 1)
        seed = seed[:begin] + new + seed[begin + length :]
    return seed


@pytest.mark.parametrize("name", TARGETS)
def test_the_bytes_to_begin_with_are_taken(name: str) -> None:
    assert all(map(TARGETS[name], SEEDS[name]))
