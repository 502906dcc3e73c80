"""The document as a whole."""

from functools import cache
from typing import Any

import orjson
import pytest
from openapi_spec_validator import validate
from typing_extensions import TypedDict

from service import __version__
from service.app import operations
from service.capabilities.catalog import OPTIONAL, running
from service.http.openapi.document import ApiDocument
from service.http.openapi.schemas import Schemas
from tests.support.configured import configured
from tests.support.openapi.contract import current_document, documented

# Parsed once; not to be changed.
the_document = cache(current_document)


def test_it_is_valid() -> None:
    validate(current_document())


def test_it_says_what_it_is() -> None:
    info = current_document()["info"]

    assert info["version"] == __version__ == "0.1.0"
    assert len(info["description"]) > 500


@pytest.mark.parametrize("operation", documented(), ids=lambda each: each.name)
def test_a_refusal_is_an_envelope_also_where_a_file_was_asked_for(
    operation: Any,
) -> None:
    document = the_document()
    described = document["paths"][operation.path][operation.method.lower()]
    for status, answer in described["responses"].items():
        if int(status) < 400 or (operation.name, status) == ("get_readyz", "503"):
            continue
        if "$ref" in answer:
            name = answer["$ref"].rpartition("/")[2]
            answer = document["components"]["responses"][name]  # noqa: PLW2901
        assert answer["content"]["application/json"]["schema"] == {
            "$ref": "#/components/schemas/Error"
        }, status


@pytest.mark.parametrize("operation", documented(), ids=lambda each: each.name)
def test_an_operation_is_described(operation: Any) -> None:
    described = the_document()["paths"][operation.path][operation.method.lower()]

    assert described["operationId"] == operation.name
    assert described["summary"]
    assert described.get("security") == ([] if operation.public else None)
    assert all(
        answer.get("$ref") or answer["description"] != "."
        for answer in described["responses"].values()
    )


@pytest.mark.parametrize(
    "without", ["", ",".join(each.name for each in OPTIONAL)], ids=["whole", "core"]
)
def test_every_tag_is_described_once(without: str) -> None:
    config = configured(without=without)
    served = [each for each in operations(config) if each.documented]
    tags = orjson.loads(ApiDocument(served).body)["tags"]
    given = [
        routes.tag
        for capability in running(config)
        for routes in capability.routes
        if routes.description
    ]

    names = [tag["name"] for tag in tags]
    assert names == list(dict.fromkeys(each.tag for each in served))
    assert [tag["name"] for tag in tags if not tag["description"]] == [], (
        'describe it where its first routes are: Routes("TAG", "What it is about.")'
    )
    assert sorted(given) == sorted(names), (
        "only one of the routes of a tag describes it"
    )


def test_two_types_of_one_name_are_refused() -> None:
    schemas = Schemas()
    typed_dict: Any = TypedDict
    schemas.of_answer(typed_dict("Twin", {"a": int}))

    with pytest.raises(ValueError, match="Twin"):
        schemas.of_answer(typed_dict("Twin", {"b": int}))


@pytest.mark.parametrize("operation", documented(), ids=lambda each: each.name)
def test_every_parameter_and_field_of_a_body_is_described(operation: Any) -> None:
    document = the_document()
    described = document["paths"][operation.path][operation.method.lower()]
    content = described.get("requestBody", {}).get("content", {})
    reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    body = document["components"]["schemas"].get(reference.rpartition("/")[2], {})

    undescribed = [
        each["name"]
        for each in described.get("parameters", ())
        if "$ref" not in each and not each.get("description")
    ]
    undescribed += [
        name
        for name, field in body.get("properties", {}).items()
        if not field.get("description")
    ]

    assert undescribed == [], (
        "describe them by Field(description=...), or for all operations by name in "
        "service/http/openapi/descriptions.py"
    )
