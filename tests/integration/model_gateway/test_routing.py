"""An agent's routing over HTTP: replacing, reading and restoring it."""

from typing import Any
from uuid import UUID, uuid4

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.model_gateway.asking import (
    PRESETS,
    explain,
    grant_path,
    granted,
    new_preset,
    path,
    put_routing,
    put_tiers,
    routed,
    routing_body,
    to_preset,
    to_tier,
)
from tests.support.reading import read_events


async def test_first_routes_of_an_agent(ada: Caller, agent: UUID, preset: str) -> None:
    before = await ada.get(path(agent))
    assert (before.data["version"], before.data["routes"]) == (0, [])
    assert before.headers["ETag"] == '"0"'
    body = routing_body(
        to_preset("claude-*", preset), to_tier("*", "fast"), tiers={"fast": preset}
    )

    reply = await ada.put(path(agent), body, If_Match='"0"')

    assert (reply.status, reply.message) == (200, "routing replaced")
    said = {"agent_id": str(agent), "version": 2, **body}
    assert reply.data == {**said, "problems": []}
    assert reply.headers["ETag"] == '"2"'
    read = await ada.get(path(agent))
    assert read.message == "routing"
    assert read.data == {**said, "position": read.position}
    assert read.position >= reply.position
    again = await ada.put(path(agent), body)
    assert (again.status, again.message) == (200, "agent already had this routing")
    assert again.data == reply.data
    assert "X-Event-Position" not in again.headers


async def test_the_routing_of_every_earlier_moment(
    ada: Caller, root: Caller, agent: UUID, preset: str, resources: Resources
) -> None:
    start = (await resources.log.head()).position
    first = await routed(ada, agent, to_preset("a", preset))
    second = await routed(ada, agent, to_preset("b", preset))
    third = await routed(ada, agent)
    moments: list[tuple[Any, int, list[str]]] = [
        (start, 0, []),
        (0, 0, []),
        # The event before holds none yet.
        (first.position - 1, 1, []),
        (first.position, 2, ["a"]),
        (second.position, 3, ["b"]),
        (third.position, 4, []),
        ("2020-01-01", 0, []),
        ("2999-01-01", 4, []),
    ]
    for reply, version, models in ((first, 2, ["a"]), (second, 3, ["b"])):
        entry = (await root.get(f"/api/audit/events/{reply.position}")).data
        time = entry["recorded_at"].replace("+", "%2B")
        moments.append((time, version, models))

    await root.delete(f"/api/catalog/agents/{agent}")
    for at, version, models in moments:
        then = (await ada.get(f"{path(agent)}?at={at}")).data
        assert (then["version"], [each["model"] for each in then["routes"]]) == (
            version,
            models,
        )
    head = (await resources.log.head()).position
    beyond = await ada.get(f"{path(agent)}?at={head + 1}")
    assert (beyond.status, beyond.message) == (400, f"the log ends at position {head}")


async def test_who_reads_and_who_replaces_a_routing(
    callers: Callers,
    root: Caller,
    ada: Caller,
    owner: Caller,
    stranger: Caller,
    agent: UUID,
    preset: str,
) -> None:
    reader = await callers.user("reader")
    appointed = await ada.put(f"/api/catalog/agents/{agent}/readers/{reader.user_id}")
    assert appointed.status == 200
    await routed(ada, agent, to_preset("a", preset))
    body = routing_body(to_preset("a", preset))
    expected = [
        (ada, 200, 200),
        (root, 200, 200),
        (reader, 200, 403),
        (await callers.user("auditor", "auditor"), 200, 403),
        # Also who owns the preset, and who records the agent's sessions.
        (owner, 404, 404),
        (stranger, 404, 404),
        (await callers.user("runtime", "runtime"), 404, 404),
    ]

    for caller, reads, writes in expected:
        assert (await caller.get(path(agent))).status == reads
        assert (await caller.get(f"{path(agent)}?at=1")).status == reads
        assert (await caller.get(f"{path(agent)}/models")).status == reads
        assert (await explain(caller, agent, "a")).status == reads
        assert (await explain(caller, agent, "a", at=1)).status == reads
        assert (await caller.put(path(agent), body)).status == writes
        assert (await caller.post(f"{path(agent)}/preview", body)).status == writes
        restored = await caller.post(f"{path(agent)}/restore", {"at": "2999-01-01"})
        assert restored.status == writes


async def test_a_stranger_gets_no_hint(
    ada: Caller, stranger: Caller, agent: UUID, preset: str
) -> None:
    await routed(ada, agent, to_preset("a", preset))

    async def answers(agent: UUID) -> list[tuple[int, str, Any]]:
        headers, body = {"If_Match": '"9"'}, routing_body(to_preset("a", preset))
        replies = [
            await stranger.get(path(agent)),
            await stranger.get(f"{path(agent)}/models"),
            await explain(stranger, agent, "a"),
            await stranger.put(path(agent), body, **headers),
            await stranger.post(f"{path(agent)}/preview", body, **headers),
            await stranger.post(f"{path(agent)}/restore", {"at": 1}, **headers),
        ]
        return [(each.status, each.message, each.data["code"]) for each in replies]

    hidden = await answers(agent)

    assert {status for status, _, _ in hidden} == {404}
    assert hidden == await answers(uuid4())


async def test_a_preset_that_exists_is_refused_as_one_that_does_not(
    ada: Caller, owner: Caller, connection: str, agent: UUID
) -> None:
    private = await new_preset(owner, connection)
    ended = await new_preset(owner, connection, visibility="public")
    await owner.delete(f"{PRESETS}/{ended}")
    answers = []

    for preset in (private, ended, str(uuid4())):
        refused = await put_routing(
            ada, agent, to_preset("a", preset), tiers={"own": preset}
        )
        assert (refused.status, refused.code) == (422, "unknown_preset")
        assert refused.data["errors"] == [
            {"path": "tiers.own", "message": "no such preset"},
            {"path": "routes[0].preset_id", "message": "no such preset"},
        ]
        answers.append(refused.message)
    assert len({*answers}) == 1
    unknown = await put_routing(ada, agent, to_tier("a", "fast"))
    assert (unknown.status, unknown.code) == (422, "unknown_tier")
    assert unknown.data["errors"] == [
        {"path": "routes[0].tier", "message": "no such tier"}
    ]
    assert (await ada.get(path(agent))).data["version"] == 0


async def test_an_outdated_version_is_refused(
    ada: Caller, agent: UUID, preset: str
) -> None:
    await routed(ada, agent, to_preset("a", preset))
    body = routing_body(to_preset("b", preset))

    for refused in (
        await ada.put(path(agent), body, If_Match='"0"'),
        await ada.post(f"{path(agent)}/preview", body, If_Match='"1"'),
        await ada.post(f"{path(agent)}/restore", {"at": 0}, If_Match='"1"'),
    ):
        assert (refused.status, refused.headers["ETag"]) == (412, '"2"')
    assert (await ada.put(path(agent), body, If_Match='"2"')).status == 200


async def test_a_repeated_request_is_answered_as_the_first(
    ada: Caller, owner: Caller, agent: UUID, preset: str
) -> None:
    route = to_preset("a", preset)
    first = await put_routing(ada, agent, route, Idempotency_Key="a")
    await routed(ada, agent)
    await owner.delete(grant_path(preset, agent))

    # Also as the preset can't be named any more.
    again = await put_routing(ada, agent, route, Idempotency_Key="a")
    fresh = await put_routing(ada, agent, route, Idempotency_Key="b")

    assert (again.status, again.body) == (200, first.body)
    assert fresh.status == 422
    assert (await ada.get(path(agent))).data["routes"] == []


async def test_a_retired_agents_routing_stays_as_it_is(
    ada: Caller, root: Caller, agent: UUID, preset: str
) -> None:
    written = await routed(ada, agent, to_preset("a", preset))
    await root.delete(f"/api/catalog/agents/{agent}")

    for refused in (
        await put_routing(ada, agent),
        await ada.post(f"{path(agent)}/preview", routing_body()),
        await root.post(f"{path(agent)}/restore", {"at": 0}),
    ):
        assert (refused.status, refused.code) == (409, "agent_retired")
    read = await ada.get(path(agent))
    assert read.data["routes"] == written.data["routes"]


async def test_a_restore_is_one_more_event_without_what_leads_nowhere(
    ada: Caller,
    owner: Caller,
    root: Caller,
    agent: UUID,
    connection: str,
    preset: str,
    resources: Resources,
) -> None:
    revoked = await new_preset(owner, connection)
    await granted(owner, revoked, agent)
    await put_tiers(root, {"fast": preset, "slow": preset})
    good = await routed(
        ada,
        agent,
        to_preset("a", revoked),
        to_tier("b", "slow"),
        to_tier("c", "own"),
        to_tier("d", "fast"),
        to_preset("e", preset),
        tiers={"own": revoked, "spare": preset},
    )
    await put_tiers(root, {"fast": preset})
    await owner.delete(grant_path(revoked, agent))
    bad = await routed(ada, agent)

    restored = await ada.post(
        f"{path(agent)}/restore", {"at": good.position}, If_Match=bad.headers["ETag"]
    )

    assert (restored.status, restored.message) == (200, "routing restored")
    assert restored.data == {
        "agent_id": str(agent),
        "version": 4,
        "routes": [to_tier("d", "fast"), to_preset("e", preset)],
        "tiers": {"spare": preset},
        "position": good.position,
        "problems": [],
        "left_out": {
            "routes": [
                to_preset("a", revoked),
                to_tier("b", "slow"),
                to_tier("c", "own"),
            ],
            "tiers": {"own": revoked},
        },
    }
    (event,) = await read_events(resources.log, after=bad.position)
    assert (event.topic, event.metadata["actor"]) == (
        "model_routing.replaced",
        str(ada.user_id),
    )
    again = await ada.post(f"{path(agent)}/restore", {"at": good.position})
    assert again.message == "agent already had this routing"
    assert again.data == restored.data
    assert "X-Event-Position" not in again.headers


async def test_a_restore_at_a_time_and_of_no_routing(
    ada: Caller, root: Caller, agent: UUID, preset: str
) -> None:
    good = await routed(ada, agent, to_preset("a", preset))
    entry = (await root.get(f"/api/audit/events/{good.position}")).data
    await routed(ada, agent)

    restored = await ada.post(f"{path(agent)}/restore", {"at": entry["recorded_at"]})
    emptied = await ada.post(f"{path(agent)}/restore", {"at": "2020-01-01"})

    assert restored.data["routes"] == good.data["routes"]
    assert restored.data["position"] == good.position
    assert (emptied.data["routes"], emptied.data["version"]) == ([], 5)
    head = emptied.position
    beyond = await ada.post(f"{path(agent)}/restore", {"at": head + 1})
    assert (beyond.status, beyond.data["errors"]) == (
        422,
        [{"path": "at", "message": "beyond the end of the log"}],
    )
