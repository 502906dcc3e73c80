"""The README's walk, command by command, against a real service."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BASE_URL = "http://127.0.0.1:8080"
STEP = "--- step"
# What doesn't depend on when and on which machine the walk was done.
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
    walk = README.partition("## A walk through")[2].partition("\n## ")[0]
    blocks = r"```sh\n(.*?)```(?:\n\n```(json|http)\n(.*?)```)?"
    return [Step(*found) for found in re.findall(blocks, walk, re.DOTALL)]


@dataclass(frozen=True)
class Served:
    """A service with demo data; ``folder`` is where a newcomer would stand."""

    url: str
    folder: Path
    environment: dict[str, str]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    programs = tmp_path / "programs"
    programs.mkdir()
    curl = programs / "curl"
    # -P: its neighbour tests/http would hide the library's http.
    curl.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -P "{ROOT}/tests/curl.py" "$@"\n'
    )
    curl.chmod(0o700)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("AGENT_RUNTIME_")
    }
    path = f"{programs}:{Path(sys.executable).parent}:{environment['PATH']}"
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "service", "serve", "--demo", "--port", "0"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as service,
    ):
        assert service.stdout is not None
        ready = re.search(r"^agent-runtime ready at (\S+),", service.stdout.readline())
        try:
            assert ready, (tmp_path / "log").read_text()[-2000:]
            yield Served(ready[1], tmp_path, {**environment, "PATH": path})
        finally:
            service.terminate()
            assert service.wait(timeout=30) == 0


@pytest.fixture
def outputs(served: Served) -> list[str]:
    """What each step of the walk prints, in one shell from the first to the last."""
    script = "".join(f"echo '{STEP}'\n{step.commands}\n" for step in steps())
    done = subprocess.run(
        ["sh", "-e", "-c", script.replace(BASE_URL, served.url)],
        cwd=served.folder,
        env=served.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split(f"{STEP}\n")[1:]


def test_each_step_answers_as_shown(outputs: list[str]) -> None:
    for number, (step, output) in enumerate(zip(steps(), outputs, strict=True), 1):
        shown, real = step.shown, output
        if step.language == "http":
            head, _, shown = shown.partition("\n\n")
            real_head, _, real = real.partition("\n\n")
            assert real_head.splitlines()[0] == head.splitlines()[0]
            assert header_names(head) <= header_names(real_head)
        compare(json_of(shown), json.loads(real), where=f"step {number}")


def test_the_walk_shows_an_answer_to_each_step_of_five_operations() -> None:
    walk = README.partition("## A walk through")[2].partition("\n## ")[0]
    assert re.findall(r"^### (\d)\. ", walk, re.MULTILINE) == list("12345")
    assert all(step.shown for step in steps())


def json_of(shown: str) -> Any:
    """Read an answer in which lines were left out for ``...``."""
    kept = "\n".join(
        line for line in shown.splitlines() if line.strip().rstrip(",") != "..."
    )
    return json.loads(re.sub(r",(\s*[\]}])", r"\1", kept))


def header_names(head: str) -> set[str]:
    return {line.partition(":")[0] for line in head.splitlines()[1:]}


def compare(shown: Any, real: Any, *, where: str) -> None:
    """Hold a real answer against a shown one: same form, same words of the API."""
    if isinstance(shown, dict):
        assert isinstance(real, dict), where
        assert shown.keys() <= real.keys(), where
        for name, value in shown.items():
            if name in SAME:
                assert real[name] == value, f"{where}.{name}"
            compare(value, real[name], where=f"{where}.{name}")
    elif isinstance(shown, list):
        assert isinstance(real, list), where
        assert len(shown) <= len(real), where
        for number, (one, other) in enumerate(zip(shown, real, strict=False)):
            compare(one, other, where=f"{where}[{number}]")
    elif shown is not None and real is not None:
        assert is_number(shown) == is_number(real), where
        assert is_number(shown) or type(shown) is type(real), where


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
