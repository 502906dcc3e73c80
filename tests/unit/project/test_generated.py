"""What is generated is compared, and what it is made from is complete."""

from pathlib import Path

import pytest

from client.generator.write import GENERATED
from docs.generator.folders import folders, purpose_of
from docs.generator.markdown import PROJECT
from tests.generated import outdated, write

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
