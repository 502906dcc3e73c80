"""Nothing that a reader would look for is undocumented."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from docs.generator.commands import commands
from docs.generator.markdown import BEGIN, END, between
from docs.generator.write import PAGES
from service.app import operations
from service.cli.main import build_parser
from service.config import NO_OPTION, Config
from service.http.operation import Operation
from service.settings import variable_of
from tests.support.project import ROOT


@cache
def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_setting_in_the_example_environment_exists() -> None:
    named = set(
        re.findall(r"^#?(AGENT_RUNTIME_\w+)=", text("deploy/env.example"), re.MULTILINE)
    )
    assert named == {variable_of(name) for name in Config.model_fields}


def row_of(operation: Operation) -> str:
    named = f"{operation.method} {operation.path}"
    return only_row(
        line
        for line in text("docs/api/operations.md").splitlines()
        if line.startswith(f"- `{named}`: ")
    )


def only_row(rows: Iterable[str]) -> str:
    found = [*rows]
    assert len(found) == 1, "run: make generated"
    return found[0]


@pytest.mark.parametrize(
    "operation", operations(), ids=lambda each: f"{each.method} {each.path}"
)
def test_every_operation_is_in_the_reference(operation: Operation) -> None:
    """With the two headers that a caller can't guess, and what it refuses with."""
    said, _, refuses = row_of(operation).partition(" Refuses: ")
    what, _, takes = said.partition(" Takes ")

    assert what.endswith(".")
    assert ("`If-Match`" in takes) == operation.if_match
    assert ("`X-Min-Position`" in takes) == operation.min_position
    for status in (403, 409, 429, 503):
        assert (str(status) in refuses) == (status in operation.answers)


@cache
def sources() -> str:
    return "\n".join(
        path.read_text("utf-8")
        for folder in ("service", "projections")
        for path in sorted((ROOT / folder).rglob("*.py"))
    )


def test_every_error_code_is_explained_and_no_other() -> None:
    documented = set(
        re.findall(r"^- `([a-z_]+)` [45][0-9x]{2}: ", text("docs/api.md"), re.MULTILINE)
    )
    code = sources()
    raised = set(re.findall(r"\bcode(?:: str)? ?= ?\"([a-z_]+)\"", code))
    assert raised - ALWAYS_NAMED_OTHERWISE - documented == set()
    assert {each for each in documented if f'"{each}"' not in code} == set()


# Kinds of errors that are only ever raised with a code of their own.
ALWAYS_NAMED_OTHERWISE = {"error", "conflict", "too_many_requests"}


def test_every_code_of_a_refusal_is_explained() -> None:
    named = {
        code
        for each in operations()
        for status, words in each.answers.items()
        if status >= 400
        for code in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", words)
    }
    assert named
    explained = text("docs/api.md")
    assert {each for each in named if f"- `{each}` " not in explained} == set()


def test_a_part_of_a_page_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{BEGIN}\nold\n\nolder\n{END}\n\nrest\n")

    page.write_text(made := between(Path("page.md"), "new", tmp_path))

    assert made == f"# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nrest\n"
    assert between(Path("page.md"), "new", tmp_path) == made


@pytest.mark.parametrize(
    "page",
    [
        "# Title\n",
        f"{BEGIN}\n",
        f"{END}\n",
        f"{END}\n{BEGIN}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{END}\n{END}\n",
        f"{END}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{END}\n{BEGIN}\n",
    ],
)
def test_a_page_without_a_part_to_replace_is_named(page: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(page)

    with pytest.raises(ValueError, match=r"^page\.md: .* has one line"):
        between(Path("page.md"), "new", tmp_path)


@pytest.mark.parametrize("command", [name for name, _ in commands(build_parser())])
def test_every_command_is_in_the_reference(command: str) -> None:
    rows = text("docs/operations/commands.md").splitlines()
    start = f"- `agent-runtime {command}"
    only_row(row for row in rows if re.match(rf"{re.escape(start)}[` ]", row))


@pytest.mark.parametrize("name", Config.model_fields)
def test_every_setting_is_in_the_reference(name: str) -> None:
    row = only_row(
        line
        for line in text("docs/operations/settings.md").splitlines()
        if line.startswith("- ") and f"`{variable_of(name)}`: " in line
    )
    option = "--" + name.replace("_", "-")
    assert (f"`{option}`" in row) == (name not in NO_OPTION)
    default = Config.model_fields[name].default
    assert default is None or f"`{str(default).lower()}`" in row


def test_every_metric_is_in_the_reference() -> None:
    metrics = re.findall(
        r"\b(?:Gauge|Counter|Histogram|Summary)\(\s*\"([a-z_]+)\"", sources()
    )
    # The client library adds the suffix to counters that don't have it.
    documented = set(
        re.findall(
            r"^- `([a-z_]+?)(?:_total)?(?:\{[a-z_,]+\})?`: ",
            text("docs/operations/metrics.md"),
            re.MULTILINE,
        )
    )
    assert metrics
    assert {name.removesuffix("_total") for name in metrics} - documented == set()


OPERATING = sorted((ROOT / "docs/operations").glob("*.md"))


@pytest.mark.parametrize("page", OPERATING, ids=lambda page: page.stem)
def test_every_page_for_operators_is_in_the_index(page: Path) -> None:
    assert f"](operations/{page.name})" in text("docs/operations.md")


@pytest.mark.parametrize(
    "page",
    [each for each in OPERATING if each.relative_to(ROOT) not in PAGES],
    ids=lambda page: page.stem,
)
def test_a_page_for_operators_has_one_task(page: Path) -> None:
    assert len(page.read_text("utf-8").split()) <= WORDS_OF_A_TASK_MAX


# What an operator reads before they act.
WORDS_OF_A_TASK_MAX = 800


def test_every_folder_is_in_the_architecture_document() -> None:
    documented = text("docs/architecture.md")
    folders = [
        f"{path.relative_to(ROOT)}/"
        for root in ("service", "projections")
        for path in sorted((ROOT / root).rglob("*"))
        if path.is_dir() and any(path.glob("*.*"))
    ]
    missing = [
        folder
        for folder in folders
        if "__pycache__" not in folder and f"`{folder}`" not in documented
    ]
    assert missing == []


def test_every_folder_in_the_architecture_document_exists() -> None:
    named = re.findall(
        r"^- `([a-z_/]+/)`: ", text("docs/architecture.md"), re.MULTILINE
    )
    assert named
    assert [folder for folder in named if not (ROOT / folder).is_dir()] == []


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    decisions = sorted(
        path.name for path in (ROOT / "docs/decisions").glob("[0-9]*.md")
    )
    assert [int(name[:4]) for name in decisions] == [*range(1, len(decisions) + 1)]
    listed = re.findall(r"\]\((\d{4}-[^)]+)\)", text("docs/decisions/README.md"))
    assert listed == decisions
    for number, name in enumerate(decisions, start=1):
        assert text(f"docs/decisions/{name}").startswith(f"# {number}. ")


def test_documented_kcat_lines_consume() -> None:
    """Without ``-C`` and a terminal, kcat writes what it reads to the topic."""
    lines = [
        line
        for page in (ROOT / "docs").rglob("*.md")
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("kcat ")
    ]
    assert lines
    assert [line for line in lines if " -C " not in line] == []


def test_the_brokers_data_are_in_its_volume() -> None:
    compose = text("deploy/compose.yaml")
    (folder,) = re.findall(r"KAFKA_LOG_DIRS: (\S+)", compose)
    assert f'volumes: ["kafka:{folder}"]' in compose
