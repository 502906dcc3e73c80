"""The contract with consumers is kept, in the documents and in the code."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from projections import event_contract as contract
from projections.event_contract import (
    PUBLIC_EVENTS,
    BrokenContractError,
    broken,
    documents,
    files,
)
from projections.relay.schema_compatibility import breaking_changes
from projections.relay.schemas import readable
from tests.generated import write
from tests.support.project import ROOT

PRICE = "model_pricing.price_set.v2"


def test_no_published_schema_is_broken() -> None:
    assert broken(ROOT) == []


@pytest.mark.parametrize("name", [entry.name for entry in PUBLIC_EVENTS.values()])
def test_every_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(contract.schemas()[name])


def schema() -> dict[str, Any]:
    return deepcopy(contract.schemas()[PRICE])


def drop(field: str) -> Callable[[dict[str, Any]], None]:
    def change(changed: dict[str, Any]) -> None:
        del changed["properties"][field]
        changed["required"].remove(field)

    return change


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (drop("closes"), "data.closes was removed"),
        (
            lambda it: it["properties"].update(closes={"type": "integer"}),
            "data.closes: anyOf was",
        ),
        (
            lambda it: it["properties"]["effective_from"].update(type="integer"),
            "data.effective_from: type was string and is integer",
        ),
        (lambda it: it["required"].remove("closes"), "is no longer required"),
        (
            lambda it: (
                it["properties"].update(extra={"type": "string"}),
                it["required"].append("extra"),
            ),
            "data.extra is now required",
        ),
        (
            lambda it: it["properties"]["price"]["properties"].pop("notes"),
            "data.price.notes was removed",
        ),
        (lambda it: it.update(additionalProperties=False), "additionalProperties"),
    ],
    ids=[
        *("field removed", "null removed", "other type", "not required", "required"),
        *("inner field removed", "closed"),
    ],
)
def test_what_would_break_a_reader_is_found(
    change: Callable[[dict[str, Any]], None], complaint: str
) -> None:
    changed = schema()
    change(changed)
    assert any(complaint in each for each in breaking_changes(schema(), changed))


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.update(description="other words"),
        lambda it: it["properties"].update(extra={"type": "string"}),
    ],
    ids=["words", "a field more"],
)
def test_what_breaks_no_reader_is_let_through(
    change: Callable[[dict[str, Any]], None],
) -> None:
    changed = schema()
    change(changed)
    assert breaking_changes(schema(), changed) == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, files(tmp_path))
    return tmp_path


def test_a_broken_schema_is_not_made(project: Path) -> None:
    file = project / contract.FOLDER / "schemas" / f"{PRICE}.json"
    published = schema()
    published["properties"]["extra"] = {"type": "string"}
    file.write_bytes(readable(published))
    with pytest.raises(BrokenContractError, match="extra was removed"):
        files(project)


@pytest.mark.parametrize("name", [PRICE, "agent.renamed.v1"], ids=["now", "earlier"])
def test_a_schema_that_can_not_be_read_is_named(project: Path, name: str) -> None:
    file = project / contract.FOLDER / "schemas" / f"{name}.json"
    file.write_text("<<<<<<< HEAD\n")

    with pytest.raises(ValueError, match=f"{name}.json: unexpected"):
        files(project)


def test_types_of_earlier_versions_stay(project: Path) -> None:
    earlier = {**schema(), "title": "internal.agent-runtime.agent.renamed.v1"}
    file = project / contract.FOLDER / "schemas" / "agent.renamed.v1.json"
    file.write_bytes(readable(earlier))
    write(project, files(project))
    assert file.exists()
    assert "class AgentRenamedV1" in (project / contract.EVENT_TYPES).read_text()


def test_every_reference_of_the_document_leads_somewhere() -> None:
    document = orjson.loads(documents(ROOT)[contract.FOLDER / contract.ASYNCAPI])
    for reference in references(document):
        found = document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [found for each in value.values() for found in references(each)]
    if isinstance(value, list):
        return [found for each in value for found in references(each)]
    return []
