"""The examples of the document are real, and fit it."""

import pytest

from service.http.openapi.document import recorded_examples
from tests.support.openapi.contract import (
    current_document,
    documented,
    faults,
    pointer_to_body,
)
from tests.support.openapi.exemplified import outdated_examples
from tests.support.openapi.kept import kept_fields
from tests.support.operations.catalog import where

CHANGING = {each.name: kept_fields(each) for each in documented() if kept_fields(each)}


def test_every_operation_and_refusal_has_a_real_example_that_fits() -> None:
    assert [*outdated_examples()] == [], "run: make generated"


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
