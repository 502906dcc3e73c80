"""What docs/walkthrough.md shows is complete, and compared strictly."""

import re
from typing import Any

import pytest

from tests.support.walkthrough import (
    WALKTHROUGH,
    compare,
    json_of,
    steps,
)


def test_every_step_of_the_five_operations_shows_its_answer() -> None:
    assert re.findall(r"^## (\d)\. ", WALKTHROUGH, re.MULTILINE) == list("12345")
    assert all(step.shown for step in steps())


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ('{"a": 1}', {"a": 1, "b": 2}),
        ('{"a": 1, "b": 2, ...}', {"a": 1}),
        ("[1]", [1, 2]),
        ('{"a": [{"b": 1}, ...]}', {"a": [{"b": 1, "c": 1}]}),
    ],
)
def test_an_answer_with_more_or_less_than_is_shown_is_found(
    shown: str, real: Any
) -> None:
    with pytest.raises(AssertionError):
        compare(json_of(shown), real, where="here")


def test_what_is_left_out_may_be_anything() -> None:
    shown = json_of('{"a": "x, ...", "b": [\n 1,\n ...\n], ...}')

    compare(shown, {"a": "y", "b": [1, 2, 3], "c": None}, where="here")
