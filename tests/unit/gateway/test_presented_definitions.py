"""What of a tool's definition agents see, and what makes it unacceptable."""

from typing import Any

import pytest

from service.gateway.definitions.acceptable import TASKS_ONLY, why_unacceptable
from service.gateway.schemas.check import UNRESOLVED
from service.gateway.schemas.presented import presented
from service.gateway.schemas.walk import PATH_CHARACTERS_MAX, subschemas

OBJECT: dict[str, Any] = {"type": "object"}
STRING: dict[str, Any] = {"type": "string"}


def tool(**members: Any) -> dict[str, Any]:
    return {"name": "query", "inputSchema": OBJECT, **members}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("members", "left_out"),
    [
        ({"description": None}, "description isn't a text"),
        ({"description": 7}, "description isn't a text"),
        ({"title": ["a"]}, "title isn't a text"),
        ({"annotations": None}, "annotations isn't an object"),
        ({"annotations": []}, "annotations isn't an object"),
        (
            {"annotations": {"readOnlyHint": "yes", "title": "Query"}},
            "annotations.readOnlyHint isn't true or false",
        ),
        (
            {"annotations": {"openWorldHint": None}},
            "annotations.openWorldHint isn't true or false",
        ),
        ({"annotations": {"title": 1}}, "annotations.title isn't a text"),
        ({"execution": "x"}, "execution isn't an object"),
        (
            {"execution": {"taskSupport": "maybe"}},
            "execution.taskSupport is none that the protocol has",
        ),
        (
            {"execution": {"taskSupport": ["required"]}},
            "execution.taskSupport is none that the protocol has",
        ),
        ({"outputSchema": None}, "outputSchema isn't a JSON Schema"),
        ({"outputSchema": "object"}, "outputSchema isn't a JSON Schema"),
        (
            {"outputSchema": {"type": "strin"}},
            "outputSchema.type isn't valid JSON Schema 2020-12",
        ),
        (
            {"outputSchema": of(a={"$ref": "#/$defs/gone"})},
            f"outputSchema.properties.a.$ref {UNRESOLVED}",
        ),
    ],
)
def test_what_strict_clients_refuse_is_left_out(
    members: dict[str, Any], left_out: str
) -> None:
    document = tool(**members)

    shown = presented(document)

    assert shown.left_out == (left_out,)
    member, _, hint = left_out.partition(" ")[0].partition(".")
    rest: dict[str, Any] = {}
    if hint and member != "outputSchema":
        kept = {key: each for key, each in members[member].items() if key != hint}
        rest = {member: kept}
    assert shown.document == tool(**rest)
    assert why_unacceptable(document, 100) is None
    assert document == tool(**members), "the pinned definition stays as it is"


@pytest.mark.parametrize(
    "schema",
    [
        of(a={"pattern": "["}),
        of(a={"pattern": r"\_"}),
        of(a={"pattern": "(?P<year>[0-9]+)"}),
        of(a={"pattern": "a*+"}),
        of(a={"pattern": "(?i)a"}),
        of(a={"pattern": "x" * 10_000}),
        {**OBJECT, "patternProperties": {"[": STRING}},
        of(a={"enum": []}),
        of(a={"nullable": True}),
        {**of(a={"$id": "b", "type": "string"})},
        {**OBJECT, "$async": True},
        of(a={"$anchor": "x"}, b={"$anchor": "x"}),
    ],
)
def test_an_output_schema_that_not_all_compile_is_left_out(
    schema: dict[str, Any],
) -> None:
    shown = presented(tool(outputSchema=schema))

    assert "outputSchema" not in shown.document
    assert shown.left_out == ("outputSchema can't be compiled by every client",)


@pytest.mark.parametrize(
    "schema",
    [
        of(a={"pattern": r"^[A-Z]{2,5}-\d+(?:\.[a-z_-]+)?$"}),
        of(a={"pattern": r"^(?!\.)[\w.+-]+@[a-z\u00e9]+\.[a-z]{2,}$"}),
        of(a={"enum": ["a", None]}, b={"type": "string", "nullable": True}),
        of(a={"$ref": "#/$defs/it"}, b={"$ref": "#"}) | {"$defs": {"it": STRING}},
        of(a={"$ref": "#here"}) | {"$defs": {"it": {"$anchor": "here"}}},
        of(a={"$ref": "#/$defs/a~1b%20c"}) | {"$defs": {"a/b c": STRING}},
        of(enum=STRING, items=STRING, a={"const": {"$ref": "#/nowhere"}}),
        of(a={"default": {"pattern": "["}, "examples": [{"$id": "x"}]}),
    ],
)
def test_what_is_as_it_should_be_stays_as_it_is(schema: dict[str, Any]) -> None:
    document = tool(
        title="Query",
        description="Ask.",
        inputSchema=schema,
        outputSchema=schema,
        annotations={"title": "Query", "readOnlyHint": True, "x-other": 1},
        execution={"taskSupport": "optional"},
    )

    shown = presented(document)

    assert shown.document == document
    assert (shown.has_object_output, shown.left_out) == (True, ())
    assert why_unacceptable(document, 100) is None


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"required": "a"}, ".required"),
        ({"properties": []}, ".properties"),
        ({"properties": None}, ".properties"),
        (of(a={"type": "strin"}), ".properties.a.type"),
        (of(a="string"), ".properties.a"),
        (of(a={"type": ["string", "string"]}), ".properties.a.type"),
        (of(a={"enum": "red"}), ".properties.a.enum"),
        (of(a={"minLength": -1}), ".properties.a.minLength"),
        (of(a={"multipleOf": 0}), ".properties.a.multipleOf"),
        (of(a={"anyOf": []}), ".properties.a.anyOf"),
        (of(a={"items": [{"type": 3}]}), ".properties.a.prefixItems[0].type"),
        ({"additionalProperties": "no"}, ".additionalProperties"),
        ({"$defs": {"a": 1}}, ".$defs.a"),
    ],
)
def test_an_input_schema_that_is_not_valid_makes_a_tool_unacceptable(
    schema: dict[str, Any], where: str
) -> None:
    why = why_unacceptable(tool(inputSchema={**OBJECT, **schema}), 100)

    assert why == f"inputSchema{where} isn't valid JSON Schema 2020-12"


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/gone",
        "#gone",
        "https://schemas.example/a.json",
        "other.json#/a",
        "#/properties/a/type",
        "#/properties/99999999",
    ],
)
def test_a_reference_to_nothing_makes_a_tool_unacceptable(reference: str) -> None:
    schema = of(a={"type": "array", "items": {"$ref": reference}})

    why = why_unacceptable(tool(inputSchema=schema), 100)

    assert why == f"inputSchema.properties.a.items.$ref {UNRESOLVED}"


def test_the_dialect_that_a_schema_names_is_not_loaded() -> None:
    """That could be anywhere; what it says is read as 2020-12."""
    schema = {**OBJECT, "$schema": "http://169.254.169.254/latest"}

    assert why_unacceptable(tool(inputSchema=schema), 100) is None


def test_a_long_path_is_cut() -> None:
    why = why_unacceptable(tool(inputSchema=of(**{"x" * 5000: {"type": 1}})), 100)

    assert why is not None
    assert len(why) < 300


def test_what_older_drafts_write_otherwise_is_translated() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **of(
            pair={"items": [STRING, {"type": "number"}], "additionalItems": False},
            above={"minimum": 3, "exclusiveMinimum": True},
            below={"maximum": 3, "exclusiveMaximum": False},
            anything=True,
            nothing=False,
        ),
    }

    shown = presented(tool(inputSchema=schema)).document["inputSchema"]

    assert shown == of(
        pair={"prefixItems": [STRING, {"type": "number"}], "items": False},
        above={"exclusiveMinimum": 3},
        below={"maximum": 3},
        anything={},
        nothing={"not": {}},
    )
    assert why_unacceptable(tool(inputSchema=schema), 100) is None


def test_ids_of_output_schemas_are_not_shown() -> None:
    """Clients that keep validators by their id would take another tool's."""
    output = {"$id": "https://schemas.example/a", **of(a=STRING)}

    shown = presented(tool(outputSchema=output))

    assert shown.document["outputSchema"] == of(a=STRING)
    assert shown.left_out == ()


@pytest.mark.parametrize("kind", ["array", "string", ["object", "null"]])
def test_an_output_that_is_no_object_is_for_stateless_clients(kind: Any) -> None:
    shown = presented(tool(outputSchema={"type": kind}))

    assert shown.document["outputSchema"] == {"type": kind}
    assert not shown.has_object_output


@pytest.mark.parametrize("support", ["optional", "forbidden"])
def test_a_tool_that_can_do_without_tasks_is_acceptable(support: str) -> None:
    document = tool(execution={"taskSupport": support})

    assert why_unacceptable(document, 100) is None


def test_a_tool_that_demands_tasks_is_unacceptable() -> None:
    document = tool(execution={"taskSupport": "required"})

    assert why_unacceptable(document, 100) == TASKS_ONLY


def test_paths_below_a_long_name_take_no_memory_each() -> None:
    schema = of(**{"a" * 30_000: {"anyOf": [{"not": {}}] * 5_000}})

    longest = max(len(path) for path, _ in subschemas(schema))

    assert longest < 2 * PATH_CHARACTERS_MAX
