"""Users and tokens over HTTP."""

from typing import Any
from uuid import uuid4

import pytest

from service.resources import Resources
from tests.support.callers import Callers, Reply
from tests.support.rebuilding import tables


def without_request_id(reply: Reply) -> tuple[int, bytes]:
    request_id = reply.data["request_id"].encode()
    return reply.status, reply.body.replace(request_id, b"")


async def test_superuser_creates_a_user(callers: Callers) -> None:
    root = await callers.user("root", "superuser")

    reply = await root.post("/api/users", {"name": "ada", "roles": ["auditor"]})

    assert (reply.status, reply.message) == (201, "user created")
    assert reply.data == {
        "id": reply.data["id"],
        "name": "ada",
        "roles": ["auditor"],
        "is_disabled": False,
        "is_erased": False,
        "version": 2,
        "created_at": reply.data["created_at"],
        "updated_at": reply.data["created_at"],
    }
    assert reply.headers["ETag"] == '"2"'
    location = reply.headers["Location"]
    got = await root.get(location, X_Min_Position=str(reply.position))
    assert (got.status, got.data) == (200, reply.data)
    assert got.headers["ETag"] == '"2"'


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "Ada"}, "name"),
        ({"name": "-ada"}, "name"),
        ({"name": "a" * 65}, "name"),
        ({"name": "ada\n"}, "name"),
        ({"name": 7}, "name"),
        ({"name": "ada", "roles": ["king"]}, "roles[0]"),
        ({"name": "ada", "roles": "auditor"}, "roles"),
        ({"name": "ada", "roles": ["auditor"] * 4}, "roles"),
        ({"name": "ada", "password": "x"}, "password"),
    ],
)
async def test_a_body_that_breaks_a_rule_is_refused(
    callers: Callers, body: Any, path: str
) -> None:
    root = await callers.user("root", "superuser")

    reply = await root.post("/api/users", body)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [each["path"] for each in reply.data["errors"]] == [path]


async def test_role_is_granted_and_revoked(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    ada = await callers.user("ada")
    path = f"/api/users/{ada.user_id}/roles/auditor"
    assert (await ada.get("/api/users")).status == 403

    granted = await root.put(path)
    assert (granted.status, granted.message) == (200, "role granted")
    assert granted.data["roles"] == ["auditor"]
    assert (await ada.get("/api/users")).status == 200

    again = await root.put(path)
    assert (again.status, again.message) == (200, "role was already granted")
    assert "X-Event-Position" not in again.headers

    revoked = await root.delete(path, If_Match='"2"')
    assert (revoked.status, revoked.message) == (200, "role revoked")
    assert (await ada.get("/api/users")).status == 403

    nothing = await root.delete(path)
    assert (nothing.status, nothing.message) == (200, "role was not granted")
    assert (await root.put(path, If_Match='"2"')).status == 412


async def test_superuser_can_not_demote_themself(callers: Callers) -> None:
    root = await callers.user("root", "superuser")

    reply = await root.delete(f"/api/users/{root.user_id}/roles/superuser")

    assert (reply.status, reply.code) == (409, "own_superuser_role")
    assert (await root.get("/api/users/me")).data["roles"] == ["superuser"]


async def test_a_role_that_does_not_exist_is_malformed(callers: Callers) -> None:
    root = await callers.user("root", "superuser")

    reply = await root.put(f"/api/users/{root.user_id}/roles/king")

    assert (reply.status, reply.code) == (400, "malformed_request")


async def test_token_is_issued_used_listed_and_revoked(callers: Callers) -> None:
    ada = await callers.user("ada")
    path = f"/api/users/{ada.user_id}/tokens"

    issued = await ada.post(path, {"label": "laptop"})
    assert issued.status == 201
    assert issued.headers["Cache-Control"] == "no-store"
    token = issued.data.pop("token")
    laptop = callers.with_token(token)
    assert (await laptop.get("/api/users/me")).data["token_id"] == issued.data["id"]

    listed = await ada.get(path, X_Min_Position=str(issued.position))
    assert listed.data["tokens"][0] == issued.data
    assert [each["label"] for each in listed.data["tokens"]] == ["laptop", "test"]
    assert token.encode() not in listed.body

    revoked = await laptop.delete(issued.headers["Location"])
    assert (revoked.status, revoked.message) == (200, "token revoked")
    assert revoked.data["revoked_at"] is not None
    refused = await laptop.get("/api/users/me")
    assert (refused.status, refused.code) == (401, "unauthenticated")

    again = await ada.delete(issued.headers["Location"])
    assert (again.status, again.message) == (200, "token was already revoked")
    assert again.data == revoked.data
    listed = await ada.get(path, X_Min_Position=str(revoked.position))
    assert listed.data["tokens"][0] == revoked.data


async def test_a_repeat_gets_the_same_token_which_is_stored_nowhere(
    callers: Callers, resources: Resources
) -> None:
    ada = await callers.user("ada")
    path, body = f"/api/users/{ada.user_id}/tokens", {"label": "laptop"}

    first = await ada.post(path, body, Idempotency_Key="k1")
    again = await ada.post(path, body, Idempotency_Key="k1")
    other = await ada.post(path, body, Idempotency_Key="k2")

    assert (first.status, again.status) == (201, 201)
    assert again.body == first.body
    assert other.data["token"] != first.data["token"]
    tokens = (await ada.get(path)).data["tokens"]
    assert len([each for each in tokens if each["label"] == "laptop"]) == 2
    laptop = callers.with_token(first.data["token"])
    assert (await laptop.get("/api/users/me")).status == 200
    async with resources.pool.connection() as connection:
        kept = await connection.execute("SELECT answer FROM events.receipt")
        answers = [answer for (answer,) in await kept.fetchall()]
    assert len(answers) == 2
    assert all(first.data["token"].encode() not in answer for answer in answers)


async def test_a_revoked_token_stays_revoked_when_its_issue_is_repeated(
    callers: Callers,
) -> None:
    ada = await callers.user("ada")
    path, body = f"/api/users/{ada.user_id}/tokens", {"label": "laptop"}
    issued = (await ada.post(path, body, Idempotency_Key="k1")).data
    await ada.delete(f"{path}/{issued['id']}")

    again = await ada.post(path, body, Idempotency_Key="k1")

    assert again.data == issued
    laptop = callers.with_token(issued["token"])
    assert (await laptop.get("/api/users/me")).status == 401


@pytest.mark.parametrize("label", ["", "x" * 129, "lap\x1btop", " "])
async def test_a_label_that_breaks_a_rule_is_refused(
    callers: Callers, label: str
) -> None:
    ada = await callers.user("ada")

    reply = await ada.post(f"/api/users/{ada.user_id}/tokens", {"label": label})

    assert (reply.status, reply.data["errors"][0]["path"]) == (422, "label")


async def test_a_hidden_user_is_answered_like_none(callers: Callers) -> None:
    ada, bob = await callers.user("ada"), await callers.user("bob")
    root = await callers.user("root", "superuser")
    token = (await bob.get("/api/users/me")).data["token_id"]
    label = {"label": "x"}

    for method, path, body in (
        ("GET", "/api/users/{}", None),
        ("GET", "/api/users/{}/tokens", None),
        ("POST", "/api/users/{}/tokens", label),
        ("DELETE", "/api/users/{}/tokens/" + token, None),
        ("PUT", "/api/users/{}/roles/auditor", None),
        ("DELETE", "/api/users/{}/roles/auditor", None),
    ):
        hidden = await ada.call(method, path.format(bob.user_id), body)
        missing = await ada.call(method, path.format(uuid4()), body)
        assert hidden.status == 404
        assert without_request_id(hidden) == without_request_id(missing)
        assert (await root.call(method, path.format(uuid4()), body)).status == 404


async def test_a_token_under_the_wrong_user_is_not_found(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    ada, bob = await callers.user("ada"), await callers.user("bob")
    token = (await bob.get("/api/users/me")).data["token_id"]

    misplaced = await root.delete(f"/api/users/{ada.user_id}/tokens/{token}")
    missing = await root.delete(f"/api/users/{ada.user_id}/tokens/{uuid4()}")

    assert misplaced.status == 404
    assert without_request_id(misplaced) == without_request_id(missing)
    assert (await bob.get("/api/users/me")).status == 200


async def test_everyone_may_ask_who_they_are(callers: Callers) -> None:
    ada = await callers.user("ada", "runtime")

    me = await ada.get("/api/users/me")

    assert me.status == 200
    assert (me.data["id"], me.data["name"]) == (str(ada.user_id), "ada")
    assert me.data["roles"] == ["runtime"]
    assert me.headers["ETag"] == '"2"'


async def test_users_are_listed_in_pages_as_they_were_created(
    callers: Callers, resources: Resources
) -> None:
    root = await callers.user("root", "superuser")
    made = [await callers.user(name) for name in ("eve", "bob", "ada")]
    await tables(resources, "users")

    first = (await root.get("/api/users?limit=3")).data
    assert [each["name"] for each in first["users"]] == ["root", "eve", "bob"]
    assert first["end_cursor"] == str(made[1].user_id)
    rest = (await root.get(f"/api/users?limit=3&after={made[1].user_id}")).data
    assert [each["name"] for each in rest["users"]] == ["ada"]
    assert rest["end_cursor"] is None


async def test_tokens_are_listed_in_pages_the_latest_first(callers: Callers) -> None:
    ada = await callers.user("ada")
    path = f"/api/users/{ada.user_id}/tokens"
    for label in ("1", "2", "3"):
        last = await ada.post(path, {"label": label})

    seen, cursor = [], ""
    while True:
        page = await ada.get(
            f"{path}?limit=3{cursor}", X_Min_Position=str(last.position)
        )
        seen += [each["label"] for each in page.data["tokens"]]
        if page.data["end_cursor"] is None:
            break
        cursor = f"&after={page.data['end_cursor']}"
    assert seen == ["3", "2", "1", "test"]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=x", "after=%00", "offset=1", "limit=1&limit=2"],
)
async def test_a_query_that_breaks_a_rule_is_refused(
    callers: Callers, query: str
) -> None:
    root = await callers.user("root", "superuser")

    reply = await root.get(f"/api/users?{query}")

    assert (reply.status, reply.code) == (400, "malformed_request")
