"""Messages about an invalid body are in our own words."""

import re
from typing import Any

import pytest

from service.app import operations
from service.errors import ServiceError
from service.http.envelope import to_json
from service.http.json_body import parse_json
from service.http.operation import Operation

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
