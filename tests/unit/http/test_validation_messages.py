"""Messages about an invalid body are in our own words."""

import re
from typing import Any

import pytest
from pydantic import TypeAdapter

from projections.sessions.parameters import PageCursor
from projections.usage.parameters import Groups
from service.app import operations
from service.connectors.url import URL_PATTERN
from service.errors import ServiceError
from service.http.envelope import to_json
from service.http.json_body import parse_json
from service.http.operation import Operation
from service.http.validation_errors import OTHER_FORM, message_of

WITH_BODY = [each for each in operations() if each.body is not None]
JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    5,
    1.5,
    1e300,
    "",
    "x" * 3000,
    "\u00e9 \n",
    "2026",
    [],
    [None],
    {},
    {"x": 1},
)
NOT_OURS = re.compile(
    r"[Ii]nput|should|Field required|pydantic|valid |\^|\[[^ \]]|\\\\|<"
)


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda each: each.name)
def test_messages_are_in_our_own_words(operation: Operation) -> None:
    model = operation.body
    assert model is not None
    fields = {field.alias or name for name, field in model.model_fields.items()}
    bodies = [*JUNK, *({name: junk} for name in fields for junk in JUNK)]
    bodies += [
        {**operation.body_example, name: junk} for name in fields for junk in JUNK
    ]
    rule = {"connector_id": "x", "tool_pattern": "a b", "stance": "perhaps"}
    bodies.append({"rules": [rule, {**rule, "tool_pattern": ""}, 5]})
    for body in bodies:
        try:
            parse_json(to_json(body), model)
        except ServiceError as error:
            for problem in error.problems:
                assert not NOT_OURS.search(problem.message), (body, problem)
                assert problem.message != "", body


def patterns_of(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(patterns_of, schema))
    if not isinstance(schema, dict):
        return set()
    own = schema.get("pattern")
    found = {own} if isinstance(own, str) else set()
    return found.union(*map(patterns_of, schema.values()))


# Documented, and checked by code that has its own message.
CHECKED_OTHERWISE = {
    URL_PATTERN,
    *patterns_of(TypeAdapter(Groups).json_schema()),
    *patterns_of(TypeAdapter(PageCursor).json_schema()),
}


def test_each_pattern_is_explained_in_words() -> None:
    models = {
        model
        for each in operations()
        for model in (each.body, each.query)
        if model is not None
    }
    patterns = set().union(*(patterns_of(each.model_json_schema()) for each in models))
    assert patterns >= CHECKED_OTHERWISE

    unexplained = {
        pattern
        for pattern in patterns - CHECKED_OTHERWISE
        if message_of({"type": "string_pattern_mismatch", "ctx": {"pattern": pattern}})
        == OTHER_FORM
    }
    assert unexplained == set(), (
        "say in words what each asks for, where it is declared: "
        "pattern=explained(PATTERN, MESSAGE), of service/http/validation_errors.py"
    )
