"""The steps of docs/walkthrough.md, and how their answers are compared."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.project import ROOT

WALKTHROUGH = (ROOT / "docs/walkthrough.md").read_text(encoding="utf-8")
# Stands in a shown answer for what is left out.
OMITTED = "..."
STEP = "--- step"
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


def check_answers(run: Callable[[str], str]) -> None:
    """Run every step in one shell, by ``run``, and compare what it answers."""
    script = "".join(f"echo '{STEP}'\n{step.commands}\n" for step in steps())
    outputs = run(script).split(f"{STEP}\n")[1:]
    for number, (step, output) in enumerate(zip(steps(), outputs, strict=True), 1):
        shown, real = step.shown, output
        if step.language == "http":
            head, _, shown = shown.partition("\n\n")
            real_head, _, real = real.partition("\n\n")
            assert real_head.splitlines()[0] == head.splitlines()[0]
            assert _header_names(head) <= _header_names(real_head)
        compare(json_of(shown), json.loads(real), where=f"step {number}")


def _header_names(head: str) -> set[str]:
    return {line.partition(":")[0] for line in head.splitlines()[1:]}


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
