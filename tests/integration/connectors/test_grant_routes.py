"""Grants of connectors to agents over HTTP."""

from dataclasses import dataclass
from uuid import uuid4

import pytest

from tests.support.callers import Caller, Callers, Reply
from tests.support.connectors.making import TRACKER


@dataclass(frozen=True)
class Sides:
    """A private connector and an agent, each of somebody else."""

    owner: Caller
    manager: Caller
    connector_id: str
    agent_id: str

    @property
    def path(self) -> str:
        return f"/api/mcp/connectors/{self.connector_id}/grants/agents/{self.agent_id}"


@pytest.fixture
async def sides(callers: Callers) -> Sides:
    owner, manager = await callers.user("owner"), await callers.user("manager")
    connector = await owner.post("/api/mcp/connectors", TRACKER)
    agent = await manager.post("/api/catalog/agents", {"name": "Triage"})
    return Sides(owner, manager, connector.data["id"], agent.data["id"])


def said(reply: Reply) -> tuple[int, str, str, str | None]:
    return (
        reply.status,
        reply.message,
        reply.data["state"],
        reply.data["awaiting"],
    )


async def test_an_offer_is_completed_by_the_other_side(sides: Sides) -> None:
    offer = await sides.owner.put(sides.path)
    words = "grant offered; a manager of the agent has to accept it"
    assert said(offer) == (202, words, "offered", "agent")
    assert offer.headers["ETag"] == '"2"'

    repeated = await sides.owner.put(sides.path)
    assert said(repeated) == said(offer)
    assert "X-Event-Position" not in repeated.headers

    completed = await sides.manager.put(sides.path, If_Match='"2"')
    words = "connector granted to the agent"
    assert said(completed) == (201, words, "granted", None)
    assert completed.data == {
        "connector_id": sides.connector_id,
        "agent_id": sides.agent_id,
        "state": "granted",
        "awaiting": None,
        "version": 3,
    }

    for side in (sides.owner, sides.manager):
        already = await side.put(sides.path)
        words = "connector was already granted to the agent"
        assert said(already) == (200, words, "granted", None)
        assert "X-Event-Position" not in already.headers
    assert (await sides.owner.put(sides.path, If_Match='"2"')).status == 412


async def test_a_public_connector_is_granted_by_the_agents_side_alone(
    sides: Sides,
) -> None:
    public = f"/api/mcp/connectors/{sides.connector_id}/grants/public"
    await sides.owner.post(public)

    assert (await sides.manager.put(sides.path)).status == 201

    private = await sides.owner.delete(public)
    assert (private.status, private.message) == (200, "connector made private")
    again = await sides.owner.delete(public)
    assert (again.status, again.message) == (200, "connector was already private")
    assert "X-Event-Position" not in again.headers
    assert (await sides.manager.put(sides.path)).status == 200


async def test_either_side_revokes(sides: Sides) -> None:
    await sides.owner.put(sides.path)
    withdrawn = await sides.manager.delete(sides.path)
    words = "offer of a grant withdrawn"
    assert said(withdrawn) == (200, words, "none", None)
    # Without an offer or a grant the connector no longer exists for them.
    assert (await sides.manager.delete(sides.path)).status == 404

    await sides.owner.put(sides.path)
    await sides.manager.put(sides.path)
    revoked = await sides.owner.delete(sides.path)
    assert said(revoked) == (200, "grant revoked", "none", None)
    nothing = await sides.owner.delete(sides.path)
    words = "connector was not granted to the agent"
    assert said(nothing) == (200, words, "none", None)
    assert "X-Event-Position" not in nothing.headers


async def test_an_idempotency_key_replays_the_first_answer(sides: Sides) -> None:
    first = await sides.owner.put(sides.path, Idempotency_Key="k1")
    await sides.manager.put(sides.path)

    replayed = await sides.owner.put(sides.path, Idempotency_Key="k1")

    assert (replayed.status, replayed.body) == (202, first.body)
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert replayed.headers["ETag"] == first.headers["ETag"]


async def test_hidden_is_answered_like_missing(callers: Callers, sides: Sides) -> None:
    stranger = await callers.user("stranger")
    connector = f"/api/mcp/connectors/{sides.connector_id}"
    missing = f"/api/mcp/connectors/{uuid4()}"

    async def same(caller: Caller, method: str, hidden: str, none: str) -> int:
        first, second = (
            await caller.call(method, hidden),
            await caller.call(method, none),
        )
        assert _without_request_id(first) == _without_request_id(second)
        return first.status

    grant = f"/grants/agents/{sides.agent_id}"
    for method, path in (
        ("PUT", grant),
        ("DELETE", grant),
        ("POST", "/grants/public"),
        ("DELETE", "/grants/public"),
        ("DELETE", ""),
        ("GET", ""),
        ("GET", "?at=1"),
    ):
        assert await same(stranger, method, connector + path, missing + path) == 404

    # A connector that they see doesn't tell them which agents exist.
    await sides.owner.post(f"{connector}/grants/public")
    none = f"{connector}/grants/agents/{uuid4()}"
    for method in ("PUT", "DELETE"):
        assert await same(stranger, method, sides.path, none) == 403


async def test_a_retired_connector_is_answered_like_none(sides: Sides) -> None:
    connector = f"/api/mcp/connectors/{sides.connector_id}"
    retired = await sides.owner.delete(connector, If_Match='"1"')
    assert (retired.status, retired.message) == (200, "connector retired")
    seen = {"X_Min_Position": str(retired.position)}
    missing = f"/api/mcp/connectors/{uuid4()}"

    for method, path in (
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/grants/public"),
        ("DELETE", "/grants/public"),
        ("PUT", f"/grants/agents/{sides.agent_id}"),
    ):
        headers = seen if method == "GET" else {}
        gone = await sides.owner.call(method, connector + path, **headers)
        none = await sides.owner.call(method, missing + path, **headers)
        assert gone.status == 404
        assert _without_request_id(gone) == _without_request_id(none)


def _without_request_id(reply: Reply) -> tuple[int, bytes]:
    request_id = reply.data["request_id"].encode()
    return reply.status, reply.body.replace(request_id, b"")
