"""The examples of the document are real, and fit it."""

import pytest

from service.http.openapi.answers import REFUSALS
from service.http.openapi.document import recorded_examples
from tests.support.openapi.contract import (
    closed,
    current_document,
    documented,
    faults,
    pointer_to_answer,
    pointer_to_body,
)
from tests.support.openapi.exemplified import with_example
from tests.support.openapi.kept import kept_fields

OUTDATED = ": run make examples"
CHANGING = {each.name: kept_fields(each) for each in documented() if kept_fields(each)}


def test_every_operation_has_real_examples_that_fit() -> None:
    described = closed(current_document())
    recorded = recorded_examples()

    assert recorded["operations"].keys() == with_example(), "run: make examples"
    for name, example in recorded["operations"].items():
        if "body" in example:
            pointer = pointer_to_body(described, name)
            assert faults(described, pointer, example["body"]) == [], name + OUTDATED
        for status, answer in example["answers"].items():
            pointer = pointer_to_answer(described, name, int(status))
            assert faults(described, pointer, answer) == [], name + OUTDATED


@pytest.mark.parametrize("name", CHANGING)
def test_every_field_of_a_change_is_in_its_example(name: str) -> None:
    """With all fields in it, the walk shows that each is kept."""
    sent = recorded_examples()["operations"][name]["body"]
    assert sent.keys() >= CHANGING[name], (
        f"in tests/support/openapi/walk.py, call {name} with "
        f"{CHANGING[name] - sent.keys()}, not their default; then run: make examples"
    )


def test_every_shared_refusal_has_a_real_example_that_fits() -> None:
    described = closed(current_document())
    recorded = recorded_examples()["refusals"]

    assert recorded.keys() == {str(status) for status in REFUSALS}
    for status, answer in recorded.items():
        assert answer["status_code"] == int(status)
        assert faults(described, "/components/schemas/Error", answer) == []


def test_the_bodies_that_routes_name_fit() -> None:
    described = current_document()
    for operation in documented():
        if operation.body is not None:
            assert operation.body_example is not None, operation.name
            pointer = pointer_to_body(described, operation.name)
            assert faults(described, pointer, operation.body_example) == []
