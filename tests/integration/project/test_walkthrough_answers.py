"""docs/walkthrough.md, command by command, against a real service."""

import json
from pathlib import Path

import pytest

from tests.support.demo_service import demo_service
from tests.support.walkthrough import (
    compare,
    json_of,
    steps,
)

STEP = "--- step"


@pytest.fixture
def outputs(tmp_path: Path) -> list[str]:
    """The output of each step, all run in one shell."""
    script = "".join(f"echo '{STEP}'\n{step.commands}\n" for step in steps())
    with demo_service(tmp_path) as service:
        return service.run(script).split(f"{STEP}\n")[1:]


def test_each_step_answers_as_shown(outputs: list[str]) -> None:
    for number, (step, output) in enumerate(zip(steps(), outputs, strict=True), 1):
        shown, real = step.shown, output
        if step.language == "http":
            head, _, shown = shown.partition("\n\n")
            real_head, _, real = real.partition("\n\n")
            assert real_head.splitlines()[0] == head.splitlines()[0]
            assert header_names(head) <= header_names(real_head)
        compare(json_of(shown), json.loads(real), where=f"step {number}")


def header_names(head: str) -> set[str]:
    return {line.partition(":")[0] for line in head.splitlines()[1:]}
