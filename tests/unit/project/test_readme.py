"""The README is one page, its commands work, and the documents' links resolve."""

import re
import shlex
from pathlib import Path

import pytest

from service.cli.main import build_parser
from tests.support.project import ROOT
from tests.support.readme import FENCE, README, shell_blocks

LINES_MAX = 150
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_readme_is_one_page() -> None:
    assert len(README.splitlines()) <= LINES_MAX


def test_the_index_lists_every_document() -> None:
    index = README.partition("\n## Documentation\n")[2]
    documents = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert documents
    assert {name for name in documents if f"](docs/{name})" not in index} == set()


@pytest.mark.parametrize("block", [b for b in shell_blocks() if "curl " not in b])
def test_each_other_command_exists(block: str) -> None:
    for line in block.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(line, comments=True)
        if program == "make":
            assert re.search(rf"^{arguments[0]}:", MAKEFILE, re.MULTILINE), line
        else:
            assert program == ".venv/bin/agent-runtime", line
            build_parser().parse_args(arguments)


@pytest.mark.parametrize(
    "page",
    sorted(
        page
        for folder in ("docs", "docs/operations", "docs/api")
        for page in (ROOT / folder).glob("*.md")
    ),
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_each_document_begins_with_its_readers_and_its_purpose(page: Path) -> None:
    assert re.match(r"# .+\n\nFor [^:]+: .+", page.read_text(encoding="utf-8"))


def test_each_make_target_in_the_documents_exists() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    targets = set(re.findall(r"`make ([a-z-]+)`", text))
    assert "test" in targets
    assert targets <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_relative_link_resolves(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    relative = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in relative if not resolves(page, link)] == []


def resolves(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def anchors(page: Path) -> set[str]:
    """The ids that GitHub gives to a page's headings."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }
