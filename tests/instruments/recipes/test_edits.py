"""The recipes' edits fit the files as they are: found out by each run of the tests."""

from pathlib import Path
from shutil import copyfile

import pytest

from tests.instruments.recipes import (
    capability,
    console_page,
    contact_field,
    team_event,
)
from tests.instruments.recipes.edits import Edit, Recipe
from tests.support.project import ROOT


@pytest.mark.parametrize(
    "recipe",
    [capability.RECIPE, console_page.RECIPE, contact_field.RECIPE, team_event.RECIPE],
    ids=lambda recipe: recipe.name,
)
def test_every_edit_fits(recipe: Recipe, tmp_path: Path) -> None:
    edits = [edit for edits in recipe.steps.values() for edit in edits]
    for file in {each.file for each in edits}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / file).exists():
            copyfile(ROOT / file, tmp_path / file)

    recipe.apply(tmp_path)

    assert all(each.text in (tmp_path / each.file).read_text("utf-8") for each in edits)


@pytest.mark.parametrize("found", ["other", "anchor anchor"])
def test_an_edit_that_does_not_fit_says_where(found: str, tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text(found, "utf-8")

    with pytest.raises(AssertionError) as refused:
        Edit("file.py", "anchor", "more").apply(tmp_path, "docs/some_page.md")

    assert "edit docs/some_page.md, its anchor in file.py has changed" in str(
        refused.value
    )


def test_a_capability_takes_four_files_outside_of_its_own_folders() -> None:
    edits = [edit for edits in capability.RECIPE.steps.values() for edit in edits]
    outside = {each.file for each in edits if "/notices/" not in each.file}

    assert outside == {
        "service/capabilities/catalog.py",
        "service/capabilities/notices.py",
        "service/console/static/app/pages.js",
        "service/console/static/pages/notices.js",
    }
