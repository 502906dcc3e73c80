"""What is generated is compared, and what it is made from is complete."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.generator.write import GENERATED
from docs.generator.folders import CONTRACTS, folders, purpose_of, with_layer
from docs.generator.markdown import PROJECT
from projections.event_contract import BrokenContractError
from tests import generated
from tests.generated import main, outdated, write

MADE = {Path("docs/list.md"): b"new", Path("docs/events/one.json"): b"{}"}


def test_what_was_written_is_current(tmp_path: Path) -> None:
    write(tmp_path, MADE)

    assert outdated(tmp_path, MADE) == []


def test_what_is_missing_or_different_or_left_over_is_outdated(tmp_path: Path) -> None:
    old = GENERATED / "gone.py"
    for path in (Path("docs/list.md"), old):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"old")

    assert outdated(tmp_path, MADE) == [*map(str, MADE), str(old)]

    write(tmp_path, MADE)
    assert not (tmp_path / old).exists()


def test_a_folder_without_a_docstring_is_named() -> None:
    package = PROJECT / "tests/unit/project"

    with pytest.raises(ValueError, match=r"tests/unit/project/__init__\.py needs a"):
        purpose_of(package)


def test_the_folders_of_the_declarations_are_layers() -> None:
    assert {"agents", "secrets", "sessions"} <= folders("service")
    assert "engine" not in folders("projections")


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """What is outdated before and after examples are recorded; nothing is made."""
    found: list[list[str]] = []

    def record(*_arguments: object, **_options: object) -> object:
        return subprocess.CompletedProcess([], 0)

    def outdated_examples() -> Iterator[str]:
        yield from found.pop(0)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(generated, "files", lambda _project: {})
    monkeypatch.setattr(generated, "outdated_examples", outdated_examples)
    monkeypatch.setattr(subprocess, "run", record)
    return found


def test_examples_that_are_recorded_again_are_current(
    recording: list[list[str]],
) -> None:
    recording += [["put_agent: contact isn't sent"], []]

    assert main([]) == 0
    assert recording == []


def test_an_example_that_recording_leaves_outdated_is_named(
    recording: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    recording += [["put_agent: contact isn't sent"]] * 2

    assert main([]) == 1
    said = capsys.readouterr().out
    assert "operations.py call these:\n  put_agent: contact isn't sent" in said


def test_the_layers_of_one_side_are_replaced() -> None:
    written = (PROJECT / CONTRACTS).read_text("utf-8")

    made = with_layer(written, "service", ["notices", "agents"])

    assert '    "agents : notices",\n' in made
    assert with_layer(made, "service", folders("service") - {"http"}) == written


@pytest.mark.parametrize("side", ["service", "projections"])
def test_layers_without_the_mark_are_named(side: str) -> None:
    written = (PROJECT / CONTRACTS).read_text("utf-8")
    head, containers, rest = written.partition(f'containers = ["{side}"]')
    unmarked = re.sub(r"\n    # Capabilities, made by[^\n]*", "", rest, count=1)

    with pytest.raises(ValueError, match=f"the layers of {side} need a line"):
        with_layer(head + containers + unmarked, side, ["agents"])


@pytest.mark.parametrize(
    "error",
    [
        BrokenContractError("agent.edited.v1: data.name was removed"),
        FileNotFoundError(2, "No such file or directory", "pages/notices.js"),
        ValueError("service/notices/__init__.py needs a docstring"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_can_not_be_made_is_said_and_nothing_written(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def files(_project: Path) -> dict[Path, bytes]:
        raise error

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(generated, "files", files)

    assert main([]) == 1
    assert capsys.readouterr().out == f"{error}\n"
    assert [*tmp_path.iterdir()] == []
