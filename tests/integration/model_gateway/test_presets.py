"""Presets over HTTP: making, editing, retiring, and how they were."""

from typing import Any
from uuid import UUID, uuid4

from service.resources import Resources
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    caught_up,
    connection_body,
    grant_path,
    granted,
    new_connection,
    new_preset,
    preset_body,
)
from tests.support.model_gateway.operations import target
from tests.support.reading import read_events


def body(connection: str, **other: Any) -> dict[str, Any]:
    return preset_body([target(connection)], **other)


READ_ONLY = {"granted_to", "dialects", "problem"}


async def test_a_preset_is_made(
    owner: Caller, connection: str, resources: Resources
) -> None:
    said = preset_body(
        [target(connection), target(connection, "b", weight=3)],
        [target(connection, "c", context_window=None)],
    )

    reply = await owner.post(PRESETS, said)

    assert (reply.status, reply.message) == (201, "preset made")
    assert reply.data == {
        "id": reply.data["id"],
        "owner_id": str(owner.user_id),
        **said,
        "version": 1,
        "created_at": reply.data["created_at"],
        "updated_at": reply.data["created_at"],
    }
    assert reply.headers["ETag"] == '"1"'
    assert reply.headers["Location"] == f"{PRESETS}/{reply.data['id']}"
    read = await owner.get(reply.headers["Location"])
    assert read.data == {
        **reply.data,
        "dialects": ["anthropic_messages"],
        "problem": None,
        "granted_to": [],
    }
    await caught_up(resources)
    listed = await owner.get(PRESETS)
    assert listed.data == {"presets": [reply.data], "end_cursor": None}


async def test_targets_on_connections_of_others_are_refused(
    stranger: Caller, owner: Caller, connection: str
) -> None:
    own = await new_connection(stranger)
    chat = await new_connection(stranger, dialects=["openai_chat"])
    messages = set()

    for unknown in (connection, str(uuid4())):
        said = preset_body([target(own)], [target(own), target(unknown)])
        refused = await stranger.post(PRESETS, said)
        assert (refused.status, refused.code) == (422, "unknown_connection")
        assert refused.data["errors"] == [
            {
                "path": "groups[1].targets[1].connection_id",
                "message": f"no such connection: {unknown}",
            }
        ]
        messages.add(refused.message)
    assert len(messages) == 1
    mixed = await stranger.post(PRESETS, preset_body([target(own), target(chat)]))
    assert (mixed.status, mixed.code) == (422, "no_common_dialect")
    assert [each["path"] for each in mixed.data["errors"]] == ["groups"]
    assert "openai_chat" in mixed.message


async def test_an_edit_replaces_all_terms_and_keeps_grants(
    owner: Caller, connection: str, preset: str, agent: UUID
) -> None:
    path = f"{PRESETS}/{preset}"
    before = await owner.get(path)
    said = body(connection, attempts=4, visibility="public", fall_back_on=[])

    edited = await owner.put(path, said, If_Match='"2"')

    assert (edited.status, edited.message) == (200, "preset edited")
    assert edited.data == {
        **{name: each for name, each in before.data.items() if name not in READ_ONLY},
        **said,
        "version": 3,
        "updated_at": edited.data["updated_at"],
    }
    assert (await owner.get(path)).data["granted_to"] == [str(agent)]
    again = await owner.put(path, said)
    assert (again.status, again.message) == (200, "preset was already so")
    assert again.data == edited.data
    assert "X-Event-Position" not in again.headers


async def test_an_outdated_version_is_refused(
    owner: Caller, connection: str, preset: str, agent: UUID
) -> None:
    path = f"{PRESETS}/{preset}"
    said = body(connection, attempts=4)

    for refused in (
        await owner.put(path, said, If_Match='"1"'),
        await owner.delete(path, If_Match='"1"'),
        await owner.post(f"{path}/preview", said, If_Match='"1"'),
        await owner.post(f"{path}/restore", {"at": "2999-01-01"}, If_Match='"1"'),
        await owner.put(grant_path(preset, agent), If_Match='"1"'),
        await owner.delete(grant_path(preset, agent), If_Match='"1"'),
    ):
        assert (refused.status, refused.headers["ETag"]) == (412, '"2"')
    assert (await owner.get(path)).data["version"] == 2


async def test_a_repeated_request_is_answered_as_the_first(
    owner: Caller, connection: str, agent: UUID, resources: Resources
) -> None:
    first = await owner.post(PRESETS, body(connection), Idempotency_Key="a")
    again = await owner.post(PRESETS, body(connection), Idempotency_Key="a")
    assert (again.status, again.body) == (201, first.body)
    grant = grant_path(first.data["id"], agent)
    lent = await owner.put(grant, Idempotency_Key="b")
    await owner.delete(grant)
    repeated = await owner.put(grant, Idempotency_Key="b")
    assert repeated.body == lent.body
    path = first.headers["Location"]
    assert (await owner.get(path)).data["granted_to"] == []
    ended = await owner.delete(path, Idempotency_Key="c")
    assert (await owner.delete(path, Idempotency_Key="c")).body == ended.body

    found = await read_events(resources.log)
    topics = [each.topic for each in found if "preset" in each.topic]
    assert topics == [
        "model_preset.made",
        "model_preset.granted_to_agent",
        "model_preset.grant_revoked",
        "model_preset.retired",
    ]


async def test_a_retired_preset_has_only_a_past(
    owner: Caller,
    root: Caller,
    ada: Caller,
    connection: str,
    agent: UUID,
    resources: Resources,
) -> None:
    preset = await new_preset(owner, connection)
    made = (await resources.log.head()).position
    path = f"{PRESETS}/{preset}"
    lent = await granted(owner, preset, agent)

    ended = await owner.delete(path)

    assert (ended.status, ended.message) == (200, "preset retired")
    assert ended.headers["ETag"] == '"3"'
    for caller in (owner, root):
        assert (await caller.get(path)).status == 404
        assert (await caller.get(f"{path}?at={ended.position}")).status == 404
        assert (await caller.get(f"{path}?at={made - 1}")).status == 404
        first = await caller.get(f"{path}?at={made}")
        assert (first.data["granted_to"], first.data["version"]) == ([], 1)
        second = await caller.get(f"{path}?at={lent.position}")
        assert (second.data["granted_to"], second.data["version"]) == ([str(agent)], 2)
        assert second.position == lent.position
    entry = (await root.get(f"/api/audit/events/{lent.position}")).data
    time = entry["recorded_at"].replace("+", "%2B")
    assert (await owner.get(f"{path}?at={time}")).data["version"] == 2
    # With its grants it has lost those who saw it by one.
    seen = {"X_Min_Position": str(ended.position)}
    assert (await ada.get(f"{path}?at={lent.position}", **seen)).status == 404
    for refused in (
        await owner.put(path, body(connection)),
        await owner.post(f"{path}/preview", body(connection)),
        await owner.post(f"{path}/restore", {"at": made}),
        await owner.put(grant_path(preset, agent)),
        await owner.delete(grant_path(preset, agent)),
        await root.delete(path),
    ):
        assert refused.status == 404
    await caught_up(resources)
    assert (await owner.get(PRESETS)).data["presets"] == []


async def test_a_retired_connection_may_stay_named_but_not_be_named_anew(
    owner: Caller, connection: str, preset: str
) -> None:
    await owner.delete(f"{CONNECTIONS}/{connection}")

    read = await owner.get(f"{PRESETS}/{preset}")
    edited = await owner.put(f"{PRESETS}/{preset}", body(connection, attempts=4))

    assert read.data["groups"][0]["targets"][0]["connection_id"] == connection
    assert (edited.status, edited.code) == (422, "unknown_connection")


async def test_a_restore_is_one_more_event(
    owner: Caller, connection: str, preset: str, agent: UUID, resources: Resources
) -> None:
    path = f"{PRESETS}/{preset}"
    good = (await resources.log.head()).position
    before = (await owner.get(path)).data
    bad = await owner.put(path, body(connection, attempts=4, visibility="public"))

    restored = await owner.post(
        f"{path}/restore", {"at": good}, If_Match=bad.headers["ETag"]
    )

    assert (restored.status, restored.message) == (200, "preset restored")
    assert (restored.data["position"], restored.data["version"]) == (good, 4)
    assert restored.data["changes"] == [
        {"part": "visibility", "before": "public", "after": "private"},
        {"part": "attempts", "before": "4", "after": "2"},
    ]
    (event,) = await read_events(resources.log, after=bad.position)
    assert event.topic == "model_preset.edited"
    assert event.position == restored.position
    now = (await owner.get(path)).data
    assert now["granted_to"] == [str(agent)]
    changed = {"version", "updated_at"}
    assert {name for name in now if now[name] != before[name]} == changed
    again = await owner.post(f"{path}/restore", {"at": good})
    assert (again.message, again.data["changes"]) == ("preset was already so", [])
    assert "X-Event-Position" not in again.headers


async def test_what_can_not_be_restored(
    owner: Caller, connection: str, stranger: Caller, resources: Resources
) -> None:
    other = await new_connection(owner)
    preset = await new_preset(owner, other)
    path = f"{PRESETS}/{preset}/restore"
    made = (await resources.log.head()).position
    await owner.put(f"{PRESETS}/{preset}", body(connection))
    await owner.delete(f"{CONNECTIONS}/{other}")
    head = (await resources.log.head()).position

    gone = await owner.post(path, {"at": made})
    never = await owner.post(path, {"at": made - 1})
    beyond = await owner.post(path, {"at": head + 1})
    foreign = await stranger.post(path, {"at": made})

    assert (gone.status, gone.code) == (422, "unknown_connection")
    assert (never.status, never.code) == (409, "nothing_to_restore")
    assert (beyond.status, beyond.data["errors"][0]["path"]) == (422, "at")
    assert foreign.status == 404
    assert (await owner.get(f"{PRESETS}/{preset}")).data["version"] == 2


async def test_a_connection_with_a_dialect_less_is_named_by_no_new_preset(
    owner: Caller, connection: str
) -> None:
    other = await new_connection(owner)
    preset = await new_preset(owner, connection, other)
    changed = connection_body(dialects=["openai_chat"])
    await owner.put(f"{CONNECTIONS}/{other}", changed)

    same = await owner.post(PRESETS, preset_body([target(connection), target(other)]))

    assert (same.status, same.code) == (422, "no_common_dialect")
    assert (await owner.get(f"{PRESETS}/{preset}")).status == 200
