"""Add the capability ``notices``, by what docs/add-a-capability.md says."""

import re
from collections.abc import Iterator
from typing import Final

from tests.instruments.recipes.edits import Edit, LeftOut, Recipe
from tests.support.project import ROOT

PAGE: Final = "docs/add-a-capability.md"
# A fenced block below the path of a new file, or of one that has these lines.
_BLOCK: Final = re.compile(
    r"^(In )?`([^`\n]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_EMPTY: Final = re.compile(r"^Empty: (.+)$", re.MULTILINE)


def edits_of(page: str) -> Iterator[Edit]:
    """Yield what a page says: each file as a whole, or lines that are added to one."""
    for added_to, file, text in _BLOCK.findall(page):
        if not added_to:
            yield Edit(file, "", text)
            continue
        lines = [(line[0], f"{line[1:]}\n") for line in text.splitlines()]
        before = "".join(line for mark, line in lines if mark == " ")
        after = "".join(line for _, line in lines)
        yield Edit(file, before, after, instead=True)
    for files in _EMPTY.findall(page):
        for file in re.findall(r"`([^`]+)`", files):
            yield Edit(file, "", "")


def _steps() -> dict[str, tuple[Edit, ...]]:
    steps: dict[str, tuple[Edit, ...]] = {}
    for edit in edits_of((ROOT / PAGE).read_text("utf-8")):
        steps[edit.file] = (*steps.get(edit.file, ()), edit)
    return steps


RECIPE: Final = Recipe(
    name="capability",
    written_in=PAGE,
    sections=("Add a capability",),
    steps=_steps(),
    tests=(
        "tests/integration/notices",
        "tests/integration/openapi/test_examples.py",
        "tests/instruments/security/test_matrix.py",
        "tests/instruments/security/test_worst_inputs.py::test_every_operation_has_its_worst_inputs",
        "tests/integration/console/browser/test_pages.py::test_a_page_is_whole_in_both_schemes_and_in_320_pixels[notices]",
    ),
    left_out=(
        LeftOut(
            "service/capabilities/catalog.py",
            "tests/unit/project/test_capabilities.py::test_each_declaration_is_a_file_in_the_catalog",
            "'notices'",
        ),
        LeftOut(
            "service/console/static/app/pages.js",
            "tests/unit/console/test_forms.py",
            "PAGES of app/pages.js has other pages than pages/",
        ),
        LeftOut(
            "tests/support/notices/operations.py",
            "tests/instruments/security/test_matrix.py",
            "No module named 'tests.support.notices.operations'",
        ),
    ),
)
