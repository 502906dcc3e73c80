"""The core runs without the optional capabilities, and without their packages."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions, requires
from typing import Any

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from projections.destruction.projector import DestructionProjector
from service.aggregate import event_types
from service.aggregates import AGGREGATES
from service.capabilities.catalog import OPTIONAL
from service.capabilities.declaration import OptionalCapability
from service.config import Config
from tests.support.project import ROOT
from tests.support.projectors import PROJECTORS

OWN = ("service", "projections")
# They know every capability, and import what is optional where it is used.
ROOTS = (
    "service.__main__",
    "service.app",
    "service.aggregates",
    "service.capabilities",
    "service.cli",
    "service.config",
    "service.serve",
    "projections.catalog",
    "projections.event_contract",
)
CORE = "the core"


def is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def owner(module: str) -> str:
    """Return the optional capability that a module is of, or else the core."""
    return next(
        (
            each.name
            for each in OPTIONAL
            if any(is_in(module, package) for package in each.packages)
        ),
        CORE,
    )


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*OWN, include_external_packages=True)


def imports() -> Iterator[tuple[str, str]]:
    """Yield each import of a module that is no composition root."""
    for module in sorted(graph().modules):
        if module.split(".")[0] in OWN and not any(is_in(module, at) for at in ROOTS):
            for imported in graph().find_modules_directly_imported_by(module):
                yield module, imported


def test_no_capability_imports_another_one_that_can_be_left_out() -> None:
    declared = {each.name: set(each.imports) for each in OPTIONAL}
    found: dict[str, set[str]] = {each.name: set() for each in OPTIONAL}
    by_core = []
    for module, imported in imports():
        by, of = owner(module), owner(imported)
        if of in {by, CORE} or imported.split(".")[0] not in OWN:
            continue
        if by == CORE:
            by_core.append((module, imported))
        else:
            found[by].add(of)

    assert by_core == []
    assert found == declared


def requirements(lines: Iterable[str]) -> set[str]:
    """Return the packages that pip installs for some, with all that they need."""
    found: set[str] = set()
    wanted = [Requirement(each) for each in lines]
    while wanted:
        each = wanted.pop()
        if (name := canonicalize_name(each.name)) in found:
            continue
        found.add(name)
        wanted += [
            needed
            for needed in map(Requirement, requires(each.name) or ())
            if needed.marker is None
            or any(needed.marker.evaluate({"extra": e}) for e in ("", *each.extras))
        ]
    return found


PROJECT: Any = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: Any = PROJECT["optional-dependencies"]
DISTRIBUTIONS = {
    module: set(map(canonicalize_name, names))
    for module, names in packages_distributions().items()
}


def test_a_capability_needs_only_packages_of_the_core_and_of_its_extra() -> None:
    installed = {CORE: requirements(PROJECT["dependencies"])}
    for each in OPTIONAL:
        extras = {
            each.extra,
            *(one.extra for one in OPTIONAL if one.name in each.imports),
        }
        lines = [line for extra in extras - {None} for line in EXTRAS[extra]]
        installed[each.name] = installed[CORE] | requirements(lines)
    found = [
        (module, imported)
        for module, imported in imports()
        if imported not in sys.stdlib_module_names
        and imported.split(".")[0] not in OWN
        and not DISTRIBUTIONS[imported] & installed[owner(module)]
    ]

    assert found == []


@pytest.mark.parametrize("optional", OPTIONAL, ids=lambda each: each.name)
def test_an_extra_has_what_its_capability_requires(
    optional: OptionalCapability,
) -> None:
    found = {
        name
        for module in optional.requires
        for name in DISTRIBUTIONS[module.split(".")[0]]
    }

    assert optional.extra or not optional.requires
    if optional.requires:
        assert found & requirements(EXTRAS[optional.extra])


def test_the_extra_all_has_all_extras_of_the_service() -> None:
    (line,) = EXTRAS["all"]
    named = re.split(r"[\[\],]", line)[1:-1]

    assert set(named) == EXTRAS.keys() - {"all", "dev"}
    assert {each.extra for each in OPTIONAL} - {None} == set(named)


def test_the_setting_names_what_can_be_left_out() -> None:
    description = Config.model_fields["without"].description or ""

    assert set(re.findall(r"\w+", description.partition("They are")[2])) - {"and"} == {
        each.name for each in OPTIONAL
    }


@pytest.mark.parametrize("optional", OPTIONAL, ids=lambda each: each.name)
def test_what_is_loaded_is_what_was_declared(optional: OptionalCapability) -> None:
    loaded = optional.load()
    if loaded is None:
        return
    names = {each.name for each in loaded.projectors}

    assert loaded.name == optional.name
    assert names == set(optional.followers) - {"relay"}
    assert not loaded.aggregates
    assert not loaded.settings


def test_every_event_that_destroys_values_is_followed() -> None:
    (destruction,) = [each for each in PROJECTORS if each.name == "destruction"]
    assert isinstance(destruction, DestructionProjector)
    naming = {
        topic
        for aggregate in AGGREGATES
        for topic, event in event_types(aggregate)
        if any(
            "sealed_ids" in vars(each).get("__annotations__", {})
            for each in event.__mro__
        )
    }

    assert naming
    assert naming <= {*destruction.topics}
