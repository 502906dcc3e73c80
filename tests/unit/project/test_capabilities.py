"""Each capability is declared once, and the lists that name it agree."""

import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import projections
import service
import service.capabilities
from docs.generator.folders import MACHINERY_WITH_ROUTES, folders
from projections.engine.projector import Projector
from service.aggregate import LoggedAggregate, event_types
from service.aggregates import AGGREGATES
from service.app import operations
from service.capabilities.catalog import CAPABILITIES, running
from service.config import DEFAULTS, Config
from service.http.config import ProxyConfig
from service.http.operation import Routes
from service.keys.config import KeyConfig
from service.waits import WaitConfig
from tests.support.project import ROOT
from tests.support.projectors import PROJECTORS

LOADED = running(DEFAULTS)
SETTINGS_OF_MACHINERY = {KeyConfig, ProxyConfig, WaitConfig}


def modules(root: ModuleType, names: Iterable[str]) -> Iterator[ModuleType]:
    for folder in names:
        package = import_module(f"{root.__name__}.{folder}")
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield import_module(found.name)


def folder_of(thing: Any) -> tuple[str, str]:
    module = thing.__module__ if inspect.isclass(thing) else thing
    side, folder, *_ = module.split(".")
    return side, folder


def test_every_aggregate_projector_and_route_is_declared() -> None:
    write_side = folders("service") - MACHINERY_WITH_ROUTES
    found = [
        *modules(service, write_side),
        import_module("service.http.openapi.routes"),
        *modules(projections, folders("projections")),
    ]
    things = [thing for module in found for thing in vars(module).values()]
    classes = {
        each
        for each in things
        if inspect.isclass(each) and not inspect.isabstract(each)
    }
    aggregates = {
        each
        for each in classes
        if issubclass(each, LoggedAggregate)
        and folder_of(each)[1] in write_side
        and "TOPIC" in vars(each)
    }
    projectors = {
        each
        for each in classes
        if issubclass(each, Projector) and each is not Projector
    }
    routes = {id(each) for each in things if isinstance(each, Routes)}

    assert aggregates == {each for one in CAPABILITIES for each in one.aggregates}
    assert projectors == {type(each) for one in LOADED for each in one.projectors}
    assert routes == {id(each) for one in LOADED for each in one.routes}


# Shown by the audit trail, which reads every event, and changing no other row.
READ_BY_THE_AUDIT_TRAIL_ALONE = {"secret.revealed", "tool_call.continued"}


def test_a_projector_of_an_aggregate_reads_all_of_its_events() -> None:
    """All: each raises the version, which rows have."""
    pairs = [
        (projector, {*types})
        for projector in PROJECTORS
        for types in (dict(event_types(each)) for each in AGGREGATES)
        if any(
            issubclass(event, LoggedAggregate.Created) and topic in projector.topics
            for topic, event in types.items()
        )
    ]
    assert pairs
    for projector, topics in pairs:
        missing = topics - {*projector.topics} - READ_BY_THE_AUDIT_TRAIL_ALONE
        assert missing == set(), (
            f"add {missing} to `events` of {type(projector).__name__} in "
            f"{inspect.getfile(type(projector))}, and what they mean for its rows; "
            "those that change no row, to READ_BY_THE_AUDIT_TRAIL_ALONE"
        )


def test_every_group_of_settings_is_declared() -> None:
    declared = {each for one in CAPABILITIES for each in one.settings}
    assert {*Config.__bases__} == declared | SETTINGS_OF_MACHINERY


def test_nothing_is_declared_twice() -> None:
    for things in (
        [each.name for each in CAPABILITIES],
        [each for one in CAPABILITIES for each in one.aggregates],
        [id(each) for one in LOADED for each in one.routes],
        [each.name for one in LOADED for each in one.projectors],
        [each for one in CAPABILITIES for each in one.settings],
        [(each.method, each.path) for each in operations()],
    ):
        assert len(things) == len(set(things))


def test_each_declaration_is_a_file_in_the_catalog() -> None:
    files = {
        found.name for found in pkgutil.iter_modules(service.capabilities.__path__)
    }
    names = {each.name for each in LOADED}
    assert files == names | {"declaration", "catalog", "optional"}


def tables_of_slices() -> dict[str, str]:
    """Return the slice of the read side that each read table belongs to."""
    owners = {}
    for path in sorted((ROOT / "projections").rglob("table.sql")):
        slice_name = path.relative_to(ROOT / "projections").parts[0]
        for table in re.findall(r"CREATE TABLE (\w+)", path.read_text("utf-8")):
            owners[table] = slice_name
    return owners


# Projectors name tables without the schema: that is their search_path.
NAMED_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?!read\.)(\w+)|\bread\.(\w+)")


def named_tables(folder: str) -> set[str]:
    """Return the read tables that the code and SQL of one capability name."""
    return {
        without_schema or with_schema
        for side in ("service", "projections")
        for path in (ROOT / side / folder).rglob("*.*")
        if path.suffix in {".py", ".sql"}
        for without_schema, with_schema in NAMED_TABLE.findall(path.read_text("utf-8"))
    }


def test_which_slice_reads_the_table_of_another_is_declared() -> None:
    owners = tables_of_slices()
    declared = {each.name: set(each.foreign_tables) for each in LOADED}
    found = {
        folder: {
            table
            for table in named_tables(folder)
            if owners.get(table, folder) != folder
        }
        for folder in folders("service") | folders("projections")
    }

    assert "agent_manager" in found["usage"]
    for folder, tables in found.items():
        assert tables == declared.get(folder, set()), (
            f"foreign_tables of service/capabilities/{folder}.py must be"
            f" {tuple(sorted(tables))}"
        )
