"""How much memory values take, against what Python says that it has allocated."""

import tracemalloc
from typing import Any

import orjson
import pytest

from service.footprint import footprint

SHAPES: dict[str, Any] = {
    "rules": {f"c{each}": {f"tool{n}.*": "allow" for n in range(9)} for each in "abc"},
    "texts": ["x" * length for length in range(500)],
    "objects": [{"name": str(number), "value": None} for number in range(200)],
    "numbers": [number * 1.5 for number in range(1_000, 2_000)],
    "wide": {"text": "\u20ac" * 10_000},
    "deep": [[[[[[[["end"]]]]]]]],
    "empty": [{}, [], "", None],
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_as_much_as_is_allocated(shape: Any) -> None:
    written = orjson.dumps(shape)
    tracemalloc.start()
    try:
        kept = [orjson.loads(written) for _ in range(100)]
        allocated = tracemalloc.get_traced_memory()[0] / len(kept)
    finally:
        tracemalloc.stop()

    # Keys that are the same everywhere, and empty texts, are allocated once.
    assert allocated * 0.9 <= footprint(kept[0]) <= allocated * 2 + 400


def test_what_is_in_it_in_tuples_and_sets_counts_too() -> None:
    text = "x" * 1_000

    assert footprint(((text,), {text})) > 2_000
