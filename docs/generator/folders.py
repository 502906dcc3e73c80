"""What follows from the folders: their list, and the layers of the import contracts."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from docs.generator.markdown import PROJECT, between, code, entries
from service.app import operations
from service.capabilities.catalog import CAPABILITIES, running
from service.config import DEFAULTS

ARCHITECTURE: Final = Path("docs/architecture.md")
CONTRACTS: Final = Path("pyproject.toml")
# The routes of the API's own documents are machinery.
MACHINERY_WITH_ROUTES: Final = {"http"}
# Slices that build on the others.
HIGHER_SLICES: Final = {"audit", "relay"}
_LAYER: Final = "    # Capabilities, made by make generated."


def architecture_page() -> str:
    packages = [
        path.parent
        for side in ("service", "projections")
        for path in sorted((PROJECT / side).rglob("__init__.py"))
    ]
    listed = entries(
        (code(f"{each.relative_to(PROJECT)}/"), purpose_of(each)) for each in packages
    )
    return between(ARCHITECTURE, "\n".join(listed))


def purpose_of(package: Path) -> str:
    """Return the first line of a package's docstring.

    :raises ValueError: it has none
    """
    file = package / "__init__.py"
    said = ast.get_docstring(ast.parse(file.read_text("utf-8")))
    if said is None:
        shown = file.relative_to(PROJECT)
        raise ValueError(f"{shown} needs a docstring that says what the folder is for")
    return said.partition("\n")[0]


def import_contracts() -> str:
    """Return ``pyproject.toml`` with the capabilities in its layers.

    :raises ValueError: the layers aren't marked
    """
    project = (PROJECT / CONTRACTS).read_text("utf-8")
    for side, others in (
        ("service", MACHINERY_WITH_ROUTES),
        ("projections", HIGHER_SLICES),
    ):
        project = with_layer(project, side, folders(side) - others)
    return project


def folders(side: str) -> set[str]:
    """Return the folders of one side that the declarations take things from."""
    loaded = running(DEFAULTS)
    modules = [
        *(each.__module__ for one in CAPABILITIES for each in one.aggregates),
        *(type(each).__module__ for one in loaded for each in one.projectors),
        *(each.function.__module__ for each in operations()),
    ]
    parts = [module.split(".") for module in modules]
    return {folder for at, folder, *_ in parts if at == side}


def with_layer(project: str, side: str, names: Iterable[str]) -> str:
    """Replace the line after the mark, of the contract whose container is a side.

    :raises ValueError: its layers have no mark
    """
    # Not beyond the end of its own layers.
    begin = rf'^containers = \["{side}"\]$(?:(?!^\]$).)*?'
    pattern = re.compile(
        rf"({begin}^{re.escape(_LAYER)}[^\n]*\n)[^\n]*$",
        re.DOTALL | re.MULTILINE,
    )
    layer = f'    "{" : ".join(sorted(names))}",'
    made, count = pattern.subn(lambda found: found[1] + layer, project, count=1)
    if count != 1:
        raise ValueError(f"{CONTRACTS}: the layers of {side} need a line {_LAYER!r}")
    return made
