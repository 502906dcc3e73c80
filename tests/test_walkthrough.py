"""docs/walkthrough.md, command by command, against a real service."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.demo_service import demo_service

ROOT = Path(__file__).parent.parent
WALKTHROUGH = (ROOT / "docs/walkthrough.md").read_text(encoding="utf-8")
STEP = "--- step"
# Stands in a shown answer for what is left out.
OMITTED = "..."
# Fields whose values are the same on every machine and at every time.
SAME = {
    "code",
    "message",
    "name",
    "reason",
    "stance",
    "state",
    "status_code",
    "tool_pattern",
    "visibility",
}


@dataclass(frozen=True)
class Step:
    commands: str
    language: str
    shown: str


def steps() -> list[Step]:
    blocks = r"```sh\n(.*?)```(?:\n\n```(json|http)\n(.*?)```)?"
    return [Step(*found) for found in re.findall(blocks, WALKTHROUGH, re.DOTALL)]


@pytest.fixture
def outputs(tmp_path: Path) -> list[str]:
    """The output of each step, all run in one shell."""
    script = "".join(f"echo '{STEP}'\n{step.commands}\n" for step in steps())
    with demo_service(tmp_path) as service:
        return service.run(script).split(f"{STEP}\n")[1:]


@pytest.mark.processes
def test_each_step_answers_as_shown(outputs: list[str]) -> None:
    for number, (step, output) in enumerate(zip(steps(), outputs, strict=True), 1):
        shown, real = step.shown, output
        if step.language == "http":
            head, _, shown = shown.partition("\n\n")
            real_head, _, real = real.partition("\n\n")
            assert real_head.splitlines()[0] == head.splitlines()[0]
            assert header_names(head) <= header_names(real_head)
        compare(json_of(shown), json.loads(real), where=f"step {number}")


def test_every_step_of_the_five_operations_shows_its_answer() -> None:
    assert re.findall(r"^## (\d)\. ", WALKTHROUGH, re.MULTILINE) == list("12345")
    assert all(step.shown for step in steps())


def json_of(shown: str) -> Any:
    """Parse a shown answer; ``...`` becomes a member named so, or an item."""
    parts, containers = [], []
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|\.\.\.|.', shown, re.DOTALL):
        part = token
        if token in "{[":
            containers.append(token)
        elif token in "}]":
            containers.pop()
        elif token == OMITTED:
            part = f'"{OMITTED}"' + (": null" if containers[-1] == "{" else "")
        parts.append(part)
    return json.loads("".join(parts))


def header_names(head: str) -> set[str]:
    return {line.partition(":")[0] for line in head.splitlines()[1:]}


def compare(shown: Any, real: Any, *, where: str) -> None:
    """Check that a real answer has the shape and fixed values of the shown one.

    It has more only where the shown one has ``...``.
    """
    if isinstance(shown, dict):
        assert isinstance(real, dict), where
        names = shown.keys() - {OMITTED}
        assert names <= real.keys(), where
        assert OMITTED in shown or names == real.keys(), where
        for name in names:
            if name in SAME:
                assert real[name] == shown[name], f"{where}.{name}"
            compare(shown[name], real[name], where=f"{where}.{name}")
    elif isinstance(shown, list):
        assert isinstance(real, list), where
        items = [each for each in shown if each != OMITTED]
        assert len(items) <= len(real), where
        assert OMITTED in shown or len(items) == len(real), where
        for number, (one, other) in enumerate(zip(items, real, strict=False)):
            compare(one, other, where=f"{where}[{number}]")
    elif shown is not None and real is not None:
        assert is_number(shown) == is_number(real), where
        assert is_number(shown) or type(shown) is type(real), where


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
