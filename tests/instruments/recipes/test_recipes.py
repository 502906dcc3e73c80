"""CONTRIBUTING.md's recipes: who does what they say has a change that passes.

Each is done in a clone of what is committed, whose environment is ours.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.instruments.recipes import (
    capability,
    console_page,
    contact_field,
    team_event,
)
from tests.instruments.recipes.documented import commands
from tests.instruments.recipes.edits import LeftOut, Recipe
from tests.support.harness.service import own_environment
from tests.support.project import ROOT

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(3600)]

RECIPES = [
    capability.RECIPE,
    contact_field.RECIPE,
    team_event.RECIPE,
    console_page.RECIPE,
]
LEFT_OUT = [(recipe, each) for recipe in RECIPES for each in recipe.left_out]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    return folder


def run(clone: Path, command: str) -> tuple[bool, str]:
    """Return whether a command succeeds, and all that it writes."""
    program, *arguments = shlex.split(command)
    if program == "make":
        # Nothing is installed: -o takes that for done.
        ours = f"{sys.prefix}/.installed-for-tests"
        arguments = ["-o", ours, f"VENV={sys.prefix}", *arguments]
    environment = own_environment() | {
        "PATH": f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{clone}{os.pathsep}{clone / 'client'}",
    }
    for name in ("MAKEFLAGS", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    done = subprocess.run(
        [program, *arguments],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode == 0, done.stdout


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_change_by_the_recipe_passes(recipe: Recipe, clone: Path) -> None:
    recipe.apply(clone)
    for command in (
        *commands(recipe.sections),
        "make test-fast",
        f"pytest -n 2 -m '' {' '.join(recipe.tests)}",
    ):
        succeeds, output = run(clone, command)
        assert succeeds, f"{command}\n{output}"


@pytest.mark.parametrize(
    ("recipe", "forgotten"),
    LEFT_OUT,
    ids=lambda each: getattr(each, "step", "") or each.name,
)
def test_a_forgotten_step_is_named(
    recipe: Recipe, forgotten: LeftOut, clone: Path
) -> None:
    recipe.apply(clone, without=forgotten.step)

    succeeds, output = run(clone, f"pytest {forgotten.test}")

    assert not succeeds
    assert forgotten.said in output


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_what_is_not_generated_is_named(recipe: Recipe, clone: Path) -> None:
    recipe.apply(clone)

    succeeds, output = run(clone, "python -m tests.generated --check")

    assert not succeeds
    assert "run make generated" in output
