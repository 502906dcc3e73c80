"""The examples of the document are real, and fit it."""

from pathlib import Path

import pytest

from service.http.openapi.document import EXAMPLES, recorded_examples
from tests.support.openapi.contract import (
    closed,
    current_document,
    documented,
    faults,
    pointer_to_body,
)
from tests.support.openapi.exemplified import differences, outdated_examples
from tests.support.openapi.kept import kept_fields
from tests.support.operations.catalog import where

CHANGING = {each.name: kept_fields(each) for each in documented() if kept_fields(each)}


def test_every_operation_and_refusal_has_a_real_example_that_fits() -> None:
    assert [*outdated_examples()] == [], "run: make generated"


def test_an_example_of_what_is_no_longer_described_is_named() -> None:
    described = closed(current_document())
    agents = described["paths"]["/api/catalog/agents"]
    del agents["post"]["requestBody"]
    del agents["get"]["responses"]["200"]

    found = {*differences(described, recorded_examples())}

    assert found == {"post_agent: takes no body", "get_agents: doesn't answer 200"}


def test_a_file_of_examples_that_can_not_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.resources.files", lambda _package: tmp_path)
    (missing,) = outdated_examples()
    (tmp_path / EXAMPLES).write_text("<<<<<<< HEAD\n")
    (conflicting,) = outdated_examples()

    assert missing.startswith(f"{EXAMPLES}: [Errno 2] No such file")
    assert conflicting.startswith(f"{EXAMPLES}: Expecting value: line 1")


@pytest.mark.parametrize("name", CHANGING)
def test_every_field_of_a_change_is_in_its_example(name: str) -> None:
    """With all fields in it, the walk shows that each is kept."""
    sent = recorded_examples()["operations"][name]["body"]
    assert sent.keys() >= CHANGING[name], (
        f"in {where(name)}, call {name} with {CHANGING[name] - sent.keys()}, not their "
        "default; then run: make generated"
    )


def test_the_status_of_a_refusal_is_its_examples() -> None:
    for status, answer in recorded_examples()["refusals"].items():
        assert answer["status_code"] == int(status)


def test_the_bodies_that_routes_name_fit() -> None:
    described = current_document()
    for operation in documented():
        if operation.body is not None:
            assert operation.body_example is not None, operation.name
            pointer = pointer_to_body(described, operation.name)
            assert faults(described, pointer, operation.body_example) == []
