"""Creating and overwriting secrets over HTTP: operation 3."""

from typing import Any

import pytest

from tests.integration.secrets.asking import FIELDS, PATH, TOKEN, value_of
from tests.support.callers import Caller, Callers, Reply

VALUE_BYTES_MAX = 65_536


def without_request_id(reply: Reply) -> bytes:
    return reply.body.replace(reply.data["request_id"].encode(), b"")


async def test_a_created_secret_is_described_and_never_shown(callers: Callers) -> None:
    ada = await callers.user("ada")
    created = await ada.post("/api/secrets", TOKEN)
    assert created.status == 201
    assert created.data.keys() == FIELDS
    assert created.data["version"] == 1
    assert created.headers["Location"] == PATH
    assert created.headers["ETag"] == '"1"'
    assert created.headers["Cache-Control"] == "no-store"
    assert b"swordfish" not in created.body


async def test_overwriting_answers_what_the_contract_says(ada: Caller) -> None:
    reply = await ada.put(PATH, {"value": "tarpon"})
    assert (reply.status, reply.message) == (200, "secret overwritten")
    assert reply.data.keys() == FIELDS
    assert reply.data["name"] == "TRACKER_TOKEN"
    assert reply.data["version"] == 2
    assert reply.data["updated_by"] == str(ada.user_id)
    assert reply.headers["ETag"] == '"2"'
    assert reply.headers["Cache-Control"] == "no-store"
    assert "X-Event-Position" in reply.headers
    assert b"tarpon" not in reply.body
    assert await value_of(ada) == "tarpon"


async def test_an_equal_value_makes_a_version_with_the_same_fingerprint(
    ada: Caller,
) -> None:
    other = await ada.put(PATH, {"value": "tarpon"})
    first, second = [await ada.put(PATH, {"value": "swordfish"}) for _ in range(2)]
    assert (first.data["version"], second.data["version"]) == (3, 4)
    assert first.data["fingerprint"] == second.data["fingerprint"]
    assert first.data["fingerprint"] != other.data["fingerprint"]


async def test_equal_values_of_two_owners_can_not_be_recognised(
    ada: Caller, callers: Callers
) -> None:
    bob = await callers.user("bob")
    adas = await ada.put(PATH, {"value": "swordfish"})
    bobs = await bob.post("/api/secrets", TOKEN)
    assert adas.data["fingerprint"] != bobs.data["fingerprint"]


@pytest.mark.parametrize("roles", [(), ("superuser", "auditor", "runtime")])
@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("GET", "", None),
        ("PUT", "", {"value": "tarpon"}),
        ("DELETE", "", None),
        ("GET", "/value", None),
        ("GET", "/value?version=1", None),
        ("POST", "/versions/1/restore", None),
    ],
)
async def test_someone_elses_secret_is_one_that_does_not_exist(
    ada: Caller,
    callers: Callers,
    method: str,
    suffix: str,
    body: Any,
    roles: tuple[str, ...],
) -> None:
    bob = await callers.user("bob", *roles)
    hidden = await bob.call(method, PATH + suffix, body)
    missing = await bob.call(method, "/api/secrets/missing" + suffix, body)
    assert hidden.status == missing.status == 404
    assert without_request_id(hidden) == without_request_id(missing)
    assert hidden.message == "no such secret"
    assert hidden.headers.keys() == missing.headers.keys()
    assert await value_of(ada) == "swordfish"


async def test_overwriting_never_creates(callers: Callers) -> None:
    ada = await callers.user("ada")
    reply = await ada.put(PATH, {"value": "tarpon"})
    assert (reply.status, reply.code) == (404, "not_found")
    assert "X-Event-Position" not in reply.headers
    assert (await ada.post("/api/secrets", TOKEN)).data["version"] == 1


@pytest.mark.parametrize(
    "name", ["no%20such", "a%2Fb", "x" * 129, "%C3%A4", "%ED%A0%80", "%FF"]
)
async def test_an_impossible_name_of_a_secret_is_404(ada: Caller, name: str) -> None:
    reply = await ada.put(f"/api/secrets/{name}", {"value": "tarpon"})
    assert reply.status == 404


async def test_if_match_names_the_version_of_the_value(ada: Caller) -> None:
    stale = await ada.put(PATH, {"value": "tarpon"}, If_Match='"7"')
    assert (stale.status, stale.code) == (412, "precondition_failed")
    assert stale.headers["ETag"] == '"1"'
    assert "X-Event-Position" not in stale.headers
    # Being revealed must not make anyone's If-Match stale.
    assert await value_of(ada) == "swordfish"
    fresh = await ada.put(PATH, {"value": "tarpon"}, If_Match='"1"')
    assert (fresh.status, fresh.headers["ETag"]) == (200, '"2"')
    again = await ada.put(PATH, {"value": "marlin"}, If_Match='"1"')
    assert again.status == 412
    assert await value_of(ada) == "tarpon"


async def test_if_match_of_a_missing_secret_is_still_not_found(ada: Caller) -> None:
    reply = await ada.put("/api/secrets/missing", {"value": "tarpon"}, If_Match='"1"')
    assert reply.status == 404


async def test_a_replayed_overwrite_makes_no_second_version(ada: Caller) -> None:
    sent = {"Idempotency_Key": "one"}
    first = await ada.put(PATH, {"value": "tarpon"}, **sent)
    again = await ada.put(PATH, {"value": "tarpon"}, **sent)
    assert again.data == first.data
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Cache-Control"] == "no-store"
    other = await ada.put(PATH, {"value": "marlin"}, **sent)
    assert (other.status, other.code) == (422, "idempotency_key_reused")
    assert await value_of(ada) == "tarpon"


@pytest.mark.parametrize(
    ("body", "status", "path"),
    [
        ({"value": ""}, 422, "value"),
        ({"value": 12345678901}, 422, "value"),
        ({"value": None}, 422, "value"),
        ({"value": ["tarpon-12345"]}, 422, "value"),
        ({"value": {"tarpon-12345": 1}}, 422, "value"),
        ({"value": "tarpon-12345", "extra": "tarpon-12345"}, 422, "(name not shown)"),
        ({}, 422, "value"),
        (["tarpon-12345"], 422, ""),
        (b'{"value": "tarpon-12345"', 400, None),
        (b'{"value": "tarpon-12345\xff"}', 400, None),
        (b'{"value": "tarpon-12345\\ud800"}', 400, None),
        (b'{"value": "tarpon-12345", "value": "tarpon-12345"}', 400, "value"),
    ],
)
async def test_a_refused_body_is_never_echoed(
    ada: Caller, body: Any, status: int, path: str | None
) -> None:
    reply = await ada.put(PATH, body)
    assert reply.status == status
    if path is not None:
        assert [each["path"] for each in reply.data["errors"]] == [path]
    assert b"tarpon-12345" not in reply.body
    assert b"12345678901" not in reply.body
    assert await value_of(ada) == "swordfish"


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("x", 200),
        ("x" * VALUE_BYTES_MAX, 200),
        ("x" * (VALUE_BYTES_MAX + 1), 422),
        ("ü" * (VALUE_BYTES_MAX // 2), 200),
        ("ü" * (VALUE_BYTES_MAX // 2) + "x", 422),
        ("\U0001f511" * (VALUE_BYTES_MAX // 4), 200),
        (" \t\n", 200),
    ],
)
async def test_a_value_has_1_to_65536_bytes_and_is_kept_as_it_is(
    ada: Caller, value: str, status: int
) -> None:
    reply = await ada.put(PATH, {"value": value})
    assert reply.status == status
    assert await value_of(ada) == (value if status == 200 else "swordfish")


@pytest.mark.parametrize(
    "value", ["", "x" * (VALUE_BYTES_MAX + 1), "é" * (VALUE_BYTES_MAX // 2 + 1)]
)
async def test_a_refused_value_is_told_its_bounds_in_bytes(
    ada: Caller, value: str
) -> None:
    reply = await ada.put(PATH, {"value": value})

    assert reply.data["errors"] == [
        {"path": "value", "message": "a value has 1 to 65536 bytes of UTF-8"}
    ]


@pytest.mark.parametrize("name", ["a", "." + "x" * 127, "...", "A_b.c-9", "..a", "-"])
async def test_names_that_can_be_used(callers: Callers, name: str) -> None:
    ada = await callers.user("ada")
    assert (await ada.post("/api/secrets", {**TOKEN, "name": name})).status == 201
    assert await value_of(ada, f"/api/secrets/{name}") == "swordfish"


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 129, "a b", "a/b", "ä", "a\n"])
async def test_names_that_can_not_be_used(callers: Callers, name: str) -> None:
    ada = await callers.user("ada")
    reply = await ada.post("/api/secrets", {**TOKEN, "name": name})
    assert reply.status == 422
    assert [each["path"] for each in reply.data["errors"]] == ["name"]


async def test_a_name_is_taken_once_for_each_owner(
    ada: Caller, callers: Callers
) -> None:
    again = await ada.post("/api/secrets", {**TOKEN, "value": "tarpon"})
    assert (again.status, again.code) == (409, "secret_exists")
    assert await value_of(ada) == "swordfish"
    bob = await callers.user("bob")
    assert (await bob.post("/api/secrets", TOKEN)).status == 201
