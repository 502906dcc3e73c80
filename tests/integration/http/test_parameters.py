"""What a path and a query must be."""

from urllib.parse import quote

import pytest

from tests.integration.http.conftest import Shared

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONNECTORS = "/api/mcp/connectors"


@pytest.mark.parametrize(
    "given",
    [
        "1",
        "null",
        "%00",
        "../users",
        "0b8f3a52-6c3e-4f43-8c8b-3cf3a5d4d9e",
        "%F0%9F%A6%80",
    ],
)
async def test_an_id_that_is_no_uuid_is_refused(shared: Shared, given: str) -> None:
    reply = await shared.ada.post(
        f"{CONNECTORS}/{quote(given, safe='%')}/grants/public"
    )

    assert (reply.status, reply.code) == (400, "malformed_request")
    assert (
        reply.data["errors"] == [{"path": "id", "message": "must be a UUID"}]
        or reply.data["errors"][0]["path"] == "id"
    )


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("limit=", "limit"),
        ("limit=ten", "limit"),
        ("limit=1.5", "limit"),
        ("limit=5.0", "limit"),
        ("limit=1_0", "limit"),
        ("limit=%2B5", "limit"),
        ("limit=%205", "limit"),
        ("limit=%D9%A5", "limit"),
        ("limit=1e1", "limit"),
        ("limit=" + "9" * 5_000, "limit"),
        ("limit=5&limit=5", "limit"),
        ("Limit=5", "Limit"),
        ("offset=1", "offset"),
        ("after=nobody", "after"),
        ("after=%00", "after"),
        ("x" * 200 + "=1", "(name not shown)"),
        ("%00=1", "(name not shown)"),
    ],
)
async def test_a_query_that_is_not_right_is_refused(
    shared: Shared, query: str, problem: str
) -> None:
    reply = await shared.ada.get(f"{CONNECTORS}?{query}")

    assert (reply.status, reply.code) == (400, "malformed_request")
    assert problem in [error["path"] for error in reply.data["errors"]]


@pytest.mark.parametrize("given", ["5.0", "%D9%A5"])
async def test_a_number_in_the_path_is_in_digits(shared: Shared, given: str) -> None:
    reply = await shared.ada.get(f"/api/audit/events/{given}")

    assert (reply.status, reply.code) == (400, "malformed_request")
    assert [error["path"] for error in reply.data["errors"]] == ["position"]


async def test_a_query_is_refused_where_none_is_declared(shared: Shared) -> None:
    reply = await shared.ada.get("/api/users/me?verbose=1&verbose=2")

    assert reply.status == 400
    assert reply.data["errors"] == [{"path": "verbose", "message": "unknown parameter"}]


@pytest.mark.parametrize(
    "given", ["", "-1", "1.5", "a", "0x1", "9" * 20, "\N{ARABIC-INDIC DIGIT ONE}"]
)
async def test_a_position_to_wait_for_is_a_number(shared: Shared, given: str) -> None:
    reply = await shared.ada.get(CONNECTORS, X_Min_Position=given)

    assert (reply.status, reply.data["errors"][0]["path"]) == (400, "X-Min-Position")
