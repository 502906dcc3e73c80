"""Connections over HTTP: what is answered, who sees them, and how they were."""

from typing import Any
from uuid import uuid4

import pytest

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.model_gateway import operations
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    caught_up,
    connection_body,
    new_connection,
    new_preset,
)
from tests.support.reading import read_events

SECRET = {"name": "anthropic", "value": "sk-very-secret"}
CREDENTIAL = {"secret_name": "anthropic", "header": "x-api-key", "scheme": None}


async def test_a_connection_is_registered(owner: Caller) -> None:
    await owner.post("/api/secrets", SECRET)
    body = connection_body(
        dialects=["anthropic_messages", "openai_chat"], credential=CREDENTIAL
    )

    reply = await owner.post(CONNECTIONS, body)

    assert (reply.status, reply.message) == (201, "connection registered")
    times = reply.data.pop("created_at"), reply.data.pop("updated_at")
    assert times[0] == times[1]
    assert reply.data == {
        "id": reply.data["id"],
        "owner_id": str(owner.user_id),
        "name": "Anthropic",
        "base_url": "https://api.anthropic.com/v1",
        "dialects": ["openai_chat", "anthropic_messages"],
        "provider": "acme",
        "credential": CREDENTIAL,
        "record_mode": "strict",
        "version": 1,
    }
    assert reply.headers["ETag"] == '"1"'
    assert reply.headers["Location"] == f"{CONNECTIONS}/{reply.data['id']}"
    read = await owner.get(reply.headers["Location"])
    assert read.data == {
        **reply.data,
        "created_at": times[0],
        "updated_at": times[1],
        "preset_ids": [],
    }
    assert read.message == "connection"
    assert b"sk-very-secret" not in reply.body + read.body


async def test_a_secret_must_be_the_callers(owner: Caller, root: Caller) -> None:
    await root.post("/api/secrets", SECRET)
    body = connection_body(credential=CREDENTIAL)

    refused = await owner.post(CONNECTIONS, body)

    assert (refused.status, refused.code) == (422, "unknown_secret")
    assert refused.data["errors"] == [
        {"path": "credential.secret_name", "message": "no such secret"}
    ]
    await owner.post("/api/secrets", SECRET)
    assert (await owner.post(CONNECTIONS, body)).status == 201


async def test_an_edit_replaces_all_settings(owner: Caller, connection: str) -> None:
    before = await owner.get(f"{CONNECTIONS}/{connection}")
    del before.data["preset_ids"]
    body = connection_body(name="EU", provider="acme-eu", dialects=["openai_chat"])

    edited = await owner.put(f"{CONNECTIONS}/{connection}", body, If_Match='"1"')

    assert (edited.status, edited.message) == (200, "connection edited")
    assert edited.data == {
        **before.data,
        **body,
        "version": 2,
        "updated_at": edited.data["updated_at"],
    }
    assert edited.data["updated_at"] != before.data["updated_at"]
    assert edited.headers["ETag"] == '"2"'
    again = await owner.put(f"{CONNECTIONS}/{connection}", body)
    message = "connection already had these settings"
    assert (again.status, again.message) == (200, message)
    assert again.data == edited.data
    assert "X-Event-Position" not in again.headers


async def test_an_outdated_version_is_refused(owner: Caller, connection: str) -> None:
    path = f"{CONNECTIONS}/{connection}"
    await owner.put(path, connection_body(name="EU"))

    for refused in (
        await owner.put(path, connection_body(), If_Match='"1"'),
        await owner.delete(path, If_Match='"1"'),
    ):
        assert (refused.status, refused.headers["ETag"]) == (412, '"2"')
    assert (await owner.get(path)).data["version"] == 2
    assert (await owner.delete(path, If_Match='"2"')).status == 200


async def test_a_repeated_request_is_answered_as_the_first(
    owner: Caller, resources: Resources
) -> None:
    first = await owner.post(CONNECTIONS, connection_body(), Idempotency_Key="a")
    again = await owner.post(CONNECTIONS, connection_body(), Idempotency_Key="a")
    assert (again.status, again.body) == (201, first.body)
    path = first.headers["Location"]
    edited = await owner.put(path, connection_body(name="EU"), Idempotency_Key="b")
    await owner.put(path, connection_body(name="US"))
    repeated = await owner.put(path, connection_body(name="EU"), Idempotency_Key="b")
    assert repeated.body == edited.body
    assert (await owner.get(path)).data["name"] == "US"
    ended = await owner.delete(path, Idempotency_Key="c")
    assert (await owner.delete(path, Idempotency_Key="c")).body == ended.body

    found = await read_events(resources.log)
    topics = [each.topic for each in found if "connection" in each.topic]
    assert topics == [
        "model_connection.registered",
        "model_connection.edited",
        "model_connection.edited",
        "model_connection.retired",
    ]


async def test_a_retired_connection_has_only_a_past(
    owner: Caller, root: Caller, stranger: Caller, resources: Resources
) -> None:
    path = f"{CONNECTIONS}/{await new_connection(owner)}"
    registered = (await resources.log.head()).position
    edited = await owner.put(path, connection_body(name="EU"))

    ended = await owner.delete(path)

    assert (ended.status, ended.message) == (200, "connection retired")
    assert (ended.data["name"], ended.headers["ETag"]) == ("EU", '"3"')
    for caller in (owner, root):
        assert (await caller.get(path)).status == 404
        assert (await caller.get(f"{path}?at={ended.position}")).status == 404
        assert (await caller.get(f"{path}?at={registered - 1}")).status == 404
        first = await caller.get(f"{path}?at={registered}")
        assert (first.status, first.data["name"]) == (200, "Anthropic")
        assert (first.headers["ETag"], first.position) == ('"1"', registered)
        second = await caller.get(f"{path}?at={ended.position - 1}")
        assert (second.data["name"], second.data["version"]) == ("EU", 2)
    entry = (await root.get(f"/api/audit/events/{edited.position}")).data
    time = entry["recorded_at"].replace("+", "%2B")
    assert (await owner.get(f"{path}?at={time}")).data["name"] == "EU"
    assert (await owner.get(f"{path}?at=2020-01-01")).status == 404
    assert (await stranger.get(f"{path}?at={registered}")).status == 404
    for refused in (
        await owner.put(path, connection_body()),
        await owner.delete(path),
        await root.delete(path),
    ):
        assert refused.status == 404
    await caught_up(resources)
    listed = await owner.get(CONNECTIONS)
    assert listed.data == {"connections": [], "end_cursor": None}


async def test_a_position_beyond_the_log_is_refused(
    owner: Caller, connection: str, resources: Resources
) -> None:
    head = (await resources.log.head()).position

    beyond = await owner.get(f"{CONNECTIONS}/{connection}?at={head + 1}")

    assert (beyond.status, beyond.message) == (400, f"the log ends at position {head}")


async def test_a_stranger_gets_no_hint(
    owner: Caller, stranger: Caller, connection: str, resources: Resources
) -> None:
    async def answers(path: str) -> list[tuple[int, str, Any]]:
        replies = [
            await stranger.get(path),
            await stranger.get(f"{path}?at=1"),
            await stranger.put(path, connection_body(), If_Match='"9"'),
            await stranger.delete(path, If_Match='"9"'),
        ]
        return [(each.status, each.message, each.data["code"]) for each in replies]

    hidden = await answers(f"{CONNECTIONS}/{connection}")

    assert [status for status, _, _ in hidden] == [404] * 4
    assert hidden == await answers(f"{CONNECTIONS}/{uuid4()}")
    await caught_up(resources)
    assert (await stranger.get(CONNECTIONS)).data["connections"] == []


@pytest.mark.parametrize(
    ("role", "edits", "retires"), [("superuser", 403, 200), ("auditor", 403, 403)]
)
async def test_what_roles_may_do(
    callers: Callers,
    owner: Caller,
    connection: str,
    resources: Resources,
    role: str,
    edits: int,
    retires: int,
) -> None:
    caller = await callers.user(role, role)
    path = f"{CONNECTIONS}/{connection}"
    await caught_up(resources)

    assert (await caller.get(path)).data == (await owner.get(path)).data
    listed = (await caller.get(CONNECTIONS)).data["connections"]
    assert [each["id"] for each in listed] == [connection]
    assert (await caller.put(path, connection_body())).status == edits
    assert (await caller.delete(path)).status == retires
    assert (await owner.get(path)).status == (404 if retires == 200 else 200)


async def test_lists_come_in_pages_each_connection_once(
    owner: Caller, stranger: Caller, resources: Resources
) -> None:
    made = [await new_connection(owner, name=f"C{number}") for number in range(5)]
    await new_connection(stranger)
    await caught_up(resources)

    found: list[dict[str, Any]] = []
    sizes, cursor = [], ""
    while True:
        page = (await owner.get(f"{CONNECTIONS}?limit=2{cursor}")).data
        found += page["connections"]
        sizes.append(len(page["connections"]))
        if page["end_cursor"] is None:
            break
        cursor = f"&after={page['end_cursor']}"

    assert sizes == [2, 2, 1]
    assert [each["id"] for each in found] == sorted(made)
    for each in found:
        read = (await owner.get(f"{CONNECTIONS}/{each['id']}")).data
        assert read == {**each, "preset_ids": []}


async def test_a_connection_names_the_presets_that_are_on_it(
    owner: Caller, connection: str, resources: Resources
) -> None:
    other = await new_connection(owner)
    made = sorted([await new_preset(owner, connection, other) for _ in range(2)])
    moved = await new_preset(owner, connection)
    retired = await new_preset(owner, connection)
    body = operations.preset([operations.target(other)])
    await owner.put(f"{PRESETS}/{moved}", body)
    await owner.delete(f"{PRESETS}/{retired}")
    await caught_up(resources)

    of_one = await owner.get(f"{CONNECTIONS}/{connection}")
    of_other = await owner.get(f"{CONNECTIONS}/{other}")

    assert of_one.data["preset_ids"] == made
    assert of_other.data["preset_ids"] == sorted([*made, moved])


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "after=7", "owner=x"])
async def test_malformed_lists(owner: Caller, query: str) -> None:
    assert (await owner.get(f"{CONNECTIONS}?{query}")).status == 400
