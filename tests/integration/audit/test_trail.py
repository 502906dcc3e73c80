"""The trail's pages: what they show, filters, cursors, who may, and on record."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import psycopg
import pytest

from projections.engine.progress import wait_for_position
from service.resources import Resources
from tests.support.callers import Caller, Callers, Reply
from tests.support.projectors import PROJECTORS
from tests.support.reading import read_events
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.tool_rules.setting import put, rule

EVENTS = "/api/audit/events"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


async def page(caller: Caller, **query: Any) -> Reply:
    position = query.pop("reflecting", 0)
    return await caller.get(
        f"{EVENTS}?{urlencode(query)}", X_Min_Position=str(position)
    )


async def connected(ada: Caller) -> tuple[str, str, int]:
    """An agent that holds a public connector, and the position of the last of it."""
    agent = (await ada.post("/api/catalog/agents", {"name": "Triage"})).data["id"]
    described = {"name": "Tracker", "url": "https://tracker.example/mcp"}
    connector = (await ada.post("/api/mcp/connectors", described)).data["id"]
    await ada.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")
    shared = await ada.post(
        f"/api/mcp/connectors/{connector}/grants/public",
        X_Request_Id="share-1",
        traceparent=f"00-{TRACE}-00f067aa0ba902b7-01",
    )
    return agent, connector, shared.position


async def test_an_entry_says_who_did_what_in_which_request(callers: Callers) -> None:
    ada = await callers.user("ada")
    auditor = await callers.user("olga", "auditor")
    _, connector, position = await connected(ada)

    reply = await page(auditor, limit=1, until_position=position, reflecting=position)

    assert (reply.status, reply.message) == (200, "audit trail")
    (entry,) = reply.data["entries"]
    assert entry.pop("recorded_at").endswith("Z")
    assert entry.pop("token_id")
    assert entry == {
        "position": position,
        "actor_id": str(ada.user_id),
        "actor": "ada",
        "request_id": "share-1",
        "trace_id": TRACE,
        "address": None,
        "kind": "connector.made_public",
        "resource": {"kind": "connector", "id": connector, "name": "Tracker"},
        "version": 3,
        "what": (
            f"made the connector Tracker ({connector}) public; it was private before"
        ),
    }


async def test_names_come_from_the_log_however_far_other_read_tables_are(
    callers: Callers, resources: Resources
) -> None:
    ada = await callers.user("ada")
    auditor = await callers.user("olga", "auditor")
    _, _, position = await connected(ada)
    names = [projector.name for projector in PROJECTORS]
    await wait_for_position(resources.pool, names, position, timeout_s=60)
    with psycopg.connect(resources.database_url, autocommit=True) as owner:
        owner.execute("DELETE FROM read.user_account; DELETE FROM read.connector")

    reply = await auditor.get(f"{EVENTS}/{position}")

    assert reply.data["actor"] == "ada"
    assert reply.data["resource"]["name"] == "Tracker"


async def test_words_name_what_they_are_about(callers: Callers) -> None:
    ada = await callers.user("ada")
    auditor = await callers.user("olga", "auditor")
    agent, connector, _ = await connected(ada)
    written = await put(ada, UUID(agent), rule(UUID(connector), "issues.*", "allow"))

    reply = await page(auditor, kind="tool_rules.replaced", reflecting=written.position)

    (entry,) = reply.data["entries"]
    assert entry["what"] == (
        f"replaced tool rules of agent Triage ({agent}): "
        f"Tracker ({connector}): allow issues.*"
    )


async def test_every_filter(callers: Callers) -> None:
    ada, bob = await callers.user("ada"), await callers.user("bob")
    auditor = await callers.user("olga", "auditor")
    agent, connector, shared = await connected(ada)
    written = (await put(ada, UUID(agent), rule(UUID(connector), "*", "deny"))).position
    named = await bob.post("/api/catalog/agents", {"name": "Clerk"}, X_Request_Id="r1")
    everything = (await page(auditor, reflecting=named.position, limit=500)).data
    times = {each["position"]: each["recorded_at"] for each in everything["entries"]}

    async def found(**query: Any) -> list[int]:
        reply = await page(auditor, order="oldest", limit=500, **query)
        positions = [each["position"] for each in reply.data["entries"]]
        return [each for each in positions if each <= named.position]

    of_bob = [named.position]
    of_agent = [shared - 3, shared - 1, written - 1, written]
    assert await found(actor=bob.user_id) == of_bob
    assert await found(request_id="r1") == of_bob
    assert await found(kind="connector.made_public") == [shared]
    assert await found(kind="connector") == [shared - 2, shared - 1, shared]
    assert await found(resource=agent) == of_agent
    assert await found(resource=connector) == [shared - 2, shared - 1, shared, written]
    assert await found(resource=connector, kind="tool_rules") == [written]
    assert await found(resource=agent, actor=bob.user_id) == []
    assert await found(resource=uuid4()) == []
    assert await found(from_position=shared, until_position=written) == [
        *range(shared, written + 1)
    ]
    assert await found(from_time=times[written]) == [written - 1, written, *of_bob]
    assert await found(from_position=shared, until_time=times[written]) == [shared]
    assert await found(resource=agent, from_position=written) == [written]
    assert await found(from_time="9999-12-31T23:59:59Z") == []
    assert await found(until_time="0001-01-01T00:00:00Z") == []
    assert len(await found(from_time="0001-01-01T00:00:00Z")) == named.position


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("narrowing", [{}, {"kind": "user"}])
async def test_pages_hold_everything_once(
    callers: Callers, resources: Resources, order: str, narrowing: dict[str, str]
) -> None:
    auditor = await callers.user("olga", "auditor")
    for number in range(7):
        await callers.user(f"user{number}")
    made = (await resources.log.head()).position
    query = {"order": order, "limit": 3, **narrowing}
    first = await page(auditor, **query, reflecting=made)
    upto = first.position
    seen = [each["position"] for each in first.data["entries"]]
    cursor = first.data["end_cursor"]
    while cursor:
        # Each page adds an entry; those in between stay where they are.
        reply = await page(auditor, **query, after=cursor, until_position=upto)
        seen += [each["position"] for each in reply.data["entries"]]
        cursor = reply.data["end_cursor"]
    whole = await page(
        auditor, order=order, limit=500, until_position=upto, **narrowing
    )

    assert seen[:3] == sorted(seen, reverse=order == "newest")[:3]
    assert [each for each in seen if each <= upto] == [
        each["position"] for each in whole.data["entries"]
    ]


async def test_only_superusers_and_auditors_read(callers: Callers) -> None:
    paths = [
        EVENTS,
        f"{EVENTS}/1",
        "/api/audit/export.jsonl",
        "/api/audit/export.csv",
        "/api/audit/stream",
    ]
    runtime = await callers.user("runtime", "runtime")
    ada = await callers.user("ada")
    for caller in (ada, runtime):
        for each in paths:
            refused = await caller.get(each)
            assert (refused.status, refused.code) == (403, "forbidden")
    for name in ("superuser", "auditor"):
        caller = await callers.user(f"the-{name}", name)
        assert (await caller.get(EVENTS)).status == 200
    anonymous = callers.anonymous()
    assert [(await anonymous.get(each)).status for each in paths] == [401] * 5


async def test_reading_is_on_record(callers: Callers, resources: Resources) -> None:
    auditor = await callers.user("olga", "auditor")
    ada = await callers.user("ada")
    before = (await resources.log.head()).position

    await page(auditor, kind="secret", limit=2)
    await auditor.get(f"{EVENTS}/1")
    await ada.get(EVENTS)

    recorded = await read_events(resources.log, after=before)
    assert [
        (each.topic, each.metadata["actor"], each.event.operation, each.event.asked)
        for each in recorded
    ] == [
        (
            "audit.read",
            str(auditor.user_id),
            "get_audit_events",
            {"kind": "secret", "limit": "2"},
        ),
        ("audit.read", str(auditor.user_id), "get_audit_event", {"position": "1"}),
    ]


async def test_words_name_the_secret_and_its_versions(callers: Callers) -> None:
    ada = await callers.user("ada")
    auditor = await callers.user("olga", "auditor")
    await ada.post("/api/secrets", {"name": "github", "value": "1"})
    written = await ada.put("/api/secrets/github", {"value": "2"})

    reply = await page(auditor, kind="secret.overwritten", reflecting=written.position)

    (entry,) = reply.data["entries"]
    secret = entry["resource"]
    assert secret["name"] == "github"
    assert entry["what"] == (
        f"gave the secret github ({secret['id']}) another value: "
        "version 2, before version 1"
    )


async def test_one_entry_shows_the_resource_before_and_after(callers: Callers) -> None:
    ada = await callers.user("ada")
    auditor = await callers.user("olga", "auditor")
    agent, connector, _ = await connected(ada)
    await put(ada, UUID(agent), rule(UUID(connector), "issues.*", "allow"))
    written = await put(ada, UUID(agent), rule(UUID(connector), "issues.*", "deny"))

    reply = await auditor.get(f"{EVENTS}/{written.position}")

    (change,) = reply.data["changes"]
    assert change == {
        "path": f"/rules/{connector}/issues.*",
        "what": "replaced",
        "before": "allow",
        "after": "deny",
    }


async def test_one_entry_as_it_is_recorded(auditor: Caller) -> None:
    reply = await auditor.get(f"{EVENTS}/1")
    beyond = await auditor.get(f"{EVENTS}/1000")

    assert (reply.status, reply.data["kind"]) == (200, "user.created")
    assert reply.data["what"] == f"created the user olga ({auditor.user_id})"
    assert reply.data["recorded"]["metadata"] == '{"actor":"test"}'
    assert '"name":"olga"' in reply.data["recorded"]["state"]
    assert (reply.data["actor_id"], reply.data["actor"]) == (None, "test")
    assert (beyond.status, (await auditor.get(f"{EVENTS}/0")).status) == (404, 400)


@pytest.mark.parametrize(
    "query",
    [
        "actor=ada",
        "kind=Connector",
        "kind=a.b.c",
        "resource=7",
        "request_id=a%20b",
        "from_time=yesterday",
        "from_position=0",
        "until_position=-1",
        "order=up",
        "limit=0",
        "limit=501",
        "after=x",
        "colour=red",
        "kind=user&kind=secret",
    ],
)
async def test_malformed_queries(auditor: Caller, query: str) -> None:
    assert (await auditor.get(f"{EVENTS}?{query}")).status == 400


async def test_the_trail_rebuilt_is_the_trail(
    callers: Callers, resources: Resources
) -> None:
    await connected(await callers.user("ada"))

    await expect_rebuild_equals_live(resources, "audit_trail")


async def test_reading_stays_refused_after_the_role_is_gone(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    auditor = await callers.user("olga", "auditor")
    assert (await auditor.get(EVENTS)).status == 200

    await root.delete(f"/api/users/{auditor.user_id}/roles/auditor")

    assert (await auditor.get(EVENTS)).status == 403
