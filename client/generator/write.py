"""Every generated file of the client, formatted."""

import subprocess
import sys
import tempfile
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Final

from client.generator.document import Json, current_document, described
from client.generator.models import models_module, references
from client.generator.names import BASES, description_of
from client.generator.reference import reference_page
from client.generator.resources import area_module, areas_module, operations_module
from client.generator.synchronous import synchronous
from client.generator.types import Types

REFERENCE: Final = Path("docs/client.md")
PACKAGE: Final = Path("client/agent_runtime_client")
ASYNC: Final = PACKAGE / "_async"
SYNC: Final = PACKAGE / "_sync"
# Unused and unsorted imports; loops that only async needs.
FIXES: Final = "F401,I,UP028,C416"
GENERATED: Final = ASYNC / "resources"


def files(project: Path) -> dict[Path, str]:
    """Return the content of every generated file, by path in the project."""
    whole = current_document()
    types = Types(whole["components"]["schemas"])
    operations = described(whole, types)
    areas = sorted({each.area for each in operations})
    made = {
        PACKAGE / "models.py": models_module(types, _used(whole)),
        PACKAGE / "operations.py": operations_module(operations),
        GENERATED / "__init__.py": areas_module(areas),
    }
    for area in areas:
        of_area = [each for each in operations if each.area == area]
        words = description_of(area, whole["tags"])
        made[GENERATED / f"{area}.py"] = area_module(area, words, of_area, types)
    made = formatted(project, made)
    handwritten = {
        path.relative_to(project): path.read_text("utf-8")
        for path in sorted((project / ASYNC).glob("*.py"))
    }
    twins = {
        SYNC / path.relative_to(ASYNC): synchronous(content)
        for path, content in (handwritten | made).items()
        if path.is_relative_to(ASYNC)
    }
    bases = {
        area: handwritten[ASYNC / f"{module}.py"] for area, (module, _) in BASES.items()
    }
    page = reference_page(operations, bases)
    return made | formatted(project, twins) | {REFERENCE: page}


def leftovers(project: Path, made: Container[Path]) -> list[Path]:
    """Return the files of areas that are gone, and of twins of what is gone."""
    return [
        path.relative_to(project)
        for folder in (GENERATED, SYNC)
        for path in sorted((project / folder).rglob("*.py"))
        if path.relative_to(project) not in made
    ]


def formatted(project: Path, made: Mapping[Path, str]) -> dict[Path, str]:
    """Return the files as ruff writes them, without unused imports."""
    with tempfile.TemporaryDirectory() as folder:
        for path, content in made.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        ruff = [sys.executable, "-m", "ruff"]
        options = ["--config", str(project / "pyproject.toml"), "--no-cache", "--quiet"]
        fixes = ["check", "--fix-only", "--unsafe-fixes", "--select", FIXES]
        for command in (fixes, ["format"]):
            subprocess.run([*ruff, *command, *options, folder], check=True)  # noqa: S603 # our own arguments
        return {path: (Path(folder) / path).read_text("utf-8") for path in made}


def _used(whole: Json) -> set[str]:
    """Return the schemas of answers, and those within bodies."""
    schemas = whole["components"]["schemas"]
    used: set[str] = set()
    for methods in whole["paths"].values():
        for operation in methods.values():
            used.update(references(operation["responses"]))
            for body in references(operation.get("requestBody", {})):
                used.update(references(schemas[body]))
    return {name for name in used if name in schemas and name != "Error"}
