"""Messages about invalid requests: in our own words, and without secrets."""

import pytest
from yarl import URL

from tests.support.callers import Callers


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
