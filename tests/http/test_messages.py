"""Messages about invalid requests: in our own words, and without secrets."""

import re
from typing import Any

import pytest
from yarl import URL

from service.app import operations
from service.errors import ServiceError
from service.http.envelope import to_json
from service.http.json_body import parse_json
from service.http.operation import Operation
from tests.callers import Callers

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


@pytest.mark.parametrize(
    "secret", ["hunter2", "correct-horse", "art_x0", "s3cr3t\u0000"]
)
async def test_names_of_unknown_fields_that_could_be_secrets_are_not_repeated(
    callers: Callers, secret: str
) -> None:
    ada = await callers.user("ada")
    twice = f'{{"value": "a", "{secret[:6]}": 1, "{secret[:6]}": 2}}'.encode()
    for body in ({"value": "a", secret: 1}, {secret: {secret: 1}}, twice):
        for reply in (
            await ada.put("/api/secrets/TOKEN", body),
            await ada.post("/api/secrets", body),
        ):
            assert reply.status in (400, 422)
            assert secret[:6].encode() not in reply.body
            assert "(name not shown)" in [each["path"] for each in reply.data["errors"]]


async def test_names_of_other_unknown_fields_are_repeated_unless_they_hold_digits(
    callers: Callers,
) -> None:
    ada = await callers.user("ada")

    body = {"name": "x", "colour": 1, "hunter2": 1}
    reply = await ada.post("/api/catalog/agents", body)
    asked = await ada.get("/api/catalog/agents?colour=1&hunter2=1")

    for each in (reply, asked):
        assert sorted(problem["path"] for problem in each.data["errors"]) == [
            "(name not shown)",
            "colour",
        ]


async def test_u0000_is_named_by_its_path_among_all_other_faults(
    callers: Callers,
) -> None:
    ada = await callers.user("ada")
    agents = "/api/catalog/agents"

    alone = await ada.post(agents, {"name": "x", "description": "a\0b"})
    both = await ada.post(agents, {"name": "", "description": "a\0b", "extra": "\0"})

    assert (alone.status, alone.code) == (422, "nul_in_text")
    assert alone.data["errors"] == [
        {"path": "description", "message": "must not contain U+0000"}
    ]
    assert (both.status, both.code) == (422, "invalid_request")
    assert [each["path"] for each in both.data["errors"]] == [
        "name",
        "extra",
        "description",
    ]


@pytest.mark.parametrize("query", ["after=%FF", "%FF=1", "limit=5&after=%C3"])
async def test_a_query_that_is_not_utf_8_is_refused(
    callers: Callers, query: str
) -> None:
    ada = await callers.user("ada")
    reply = await ada.get(URL(f"/api/users?{query}", encoded=True))  # type: ignore[arg-type]

    assert (reply.status, reply.code) == (400, "malformed_request")
    assert reply.data["errors"] == [{"path": "query", "message": "not UTF-8"}]
