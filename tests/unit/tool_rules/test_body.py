"""What the batch upsert takes, and every fault that it names."""

from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from pydantic import ValidationError

from service.http.validation_errors import problems_of
from service.tool_rules.body import BulkToolUpdate
from tests.support.tool_rules.setting import rule

ONE = UUID("9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11")


def faults(body: Any) -> list[str]:
    """Return the places of all faults."""
    try:
        BulkToolUpdate.model_validate_json(orjson.dumps(body))
    except ValidationError as error:
        return [problem.path for problem in problems_of(error)]
    return []


@pytest.mark.parametrize(
    "pattern", ["a", "*", "?", "x" * 256, "azAZ09_.-/:*?", "**", "a*b?c"]
)
def test_patterns_taken(pattern: str) -> None:
    assert faults({"rules": [rule(ONE, pattern, "allow")]}) == []


@pytest.mark.parametrize(
    "pattern",
    ["", "x" * 257, "a b", "ä", "a\n", "a,b", "[ab]", "a|b", "a\\*", "a+", "(a)", "$a"],
)
def test_patterns_refused(pattern: str) -> None:
    body = {"rules": [rule(ONE, pattern, "allow")]}
    assert faults(body) == ["rules[0].tool_pattern"]


@pytest.mark.parametrize("stance", ["allow", "ask", "deny"])
def test_stances_taken(stance: str) -> None:
    assert faults({"rules": [rule(ONE, "a", stance)]}) == []


@pytest.mark.parametrize("stance", ["", "Allow", "allow ", "permit", None, 1, True, []])
def test_stances_refused(stance: Any) -> None:
    body = {"rules": [{**rule(ONE, "a", "allow"), "stance": stance}]}
    assert faults(body) == ["rules[0].stance"]


@pytest.mark.parametrize("connector_id", ["", "7", None, 8, [], {}, f"{ONE}0"])
def test_connectors_refused(connector_id: Any) -> None:
    body = {"rules": [{**rule(ONE, "a", "allow"), "connector_id": connector_id}]}
    assert faults(body) == ["rules[0].connector_id"]


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({"rules": []}, []),
        ({}, ["rules"]),
        ({"rules": None}, ["rules"]),
        ({"rules": {}}, ["rules"]),
        ({"rules": "[]"}, ["rules"]),
        ({"rules": [None, []]}, ["rules[0]", "rules[1]"]),
        ({"rules": [], "mode": "merge"}, ["mode"]),
    ],
)
def test_shapes(body: Any, places: list[str]) -> None:
    assert faults(body) == places


@pytest.mark.parametrize("missing", ["connector_id", "tool_pattern", "stance"])
def test_every_field_is_required(missing: str) -> None:
    given = rule(ONE, "a", "allow")
    del given[missing]
    assert faults({"rules": [given]}) == [f"rules[0].{missing}"]


def test_thousand_rules_and_no_more() -> None:
    rules = [rule(ONE, f"tool_{number}", "allow") for number in range(1001)]
    assert faults({"rules": rules[:1000]}) == []
    assert faults({"rules": rules}) == ["rules"]


def test_every_fault_is_named_at_once_with_contradictions() -> None:
    rules = [
        rule(ONE, "a", "allow"),
        {**rule(ONE, "a", "deny"), "extra": "x"},
        rule(ONE, "spaced out", "allow"),
        rule(ONE, "", "maybe"),
        {"tool_pattern": "a", "stance": "deny"},
        {**rule(ONE, "a", "deny"), "connector_id": "no"},
        rule(ONE, "a", "ask"),
        rule(uuid4(), "a", "ask"),
        rule(ONE, "A", "ask"),
    ]
    assert faults({"rules": rules}) == [
        "rules[1].extra",
        "rules[2].tool_pattern",
        "rules[3].tool_pattern",
        "rules[3].stance",
        "rules[4].connector_id",
        "rules[5].connector_id",
        "rules[1].stance",
        "rules[6].stance",
    ]
