"""Explaining where a name leads, now and then."""

from datetime import datetime, tzinfo
from typing import Any, Self
from uuid import UUID

import pytest

from projections.model_gateway import explanation
from service.resources import Resources
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    PRESETS,
    explain,
    grant_path,
    granted,
    new_preset,
    path,
    preset_body,
    put_tiers,
    routed,
    to_preset,
    to_tier,
)
from tests.support.model_gateway.operations import target
from tests.support.sessions.pricing import set_price


def since(position: int, kind: str, actor: Caller) -> dict[str, Any]:
    return {"position": position, "kind": kind, "actor": str(actor.user_id)}


def origins(explained: Any) -> list[Any]:
    """Return what is said of routing, tiers and preset, without the times."""
    found = [explained[f"{each}_since"] for each in ("routing", "tiers", "preset")]
    for each in found:
        if each is not None:
            assert each.pop("recorded_at")
    return found


async def test_every_route_is_listed_with_what_it_did(
    ada: Caller, root: Caller, owner: Caller, agent: UUID, preset: str, connection: str
) -> None:
    other = await new_preset(owner, connection, visibility="public")
    tiers = await put_tiers(root, {"fast": other})
    written = await routed(
        ada,
        agent,
        to_preset("gpt-*", other),
        to_tier("claude-*", "fast"),
        to_preset("claude-haiku", preset),
        to_tier("*", "own"),
        tiers={"own": preset},
    )
    lent = await owner.put(grant_path(other, agent))

    reply = await explain(ada, agent, "claude-haiku")

    assert (reply.status, reply.message) == (200, "routing explained")
    assert reply.position == reply.data["position"] == lent.position
    explained = reply.data
    assert origins(explained) == [
        since(written.position, "model_routing.replaced", ada),
        since(tiers.position, "model_tiers.replaced", root),
        since(lent.position, "model_preset.granted_to_agent", owner),
    ]
    assert (explained["problem"], explained["version"]) == (None, 2)
    assert (explained["agent_id"], explained["model"]) == (str(agent), "claude-haiku")
    assert explained["routes"] == [
        {**to_preset("gpt-*", other), "matched": False, "decisive": False},
        {**to_tier("claude-*", "fast"), "matched": True, "decisive": True},
        {**to_preset("claude-haiku", preset), "matched": True, "decisive": False},
        {**to_tier("*", "own"), "matched": True, "decisive": False},
    ]
    leads_to = explained["leads_to"]
    assert leads_to["model"] == "claude-*"
    assert leads_to["tier"] == {
        "name": "fast",
        "preset_id": other,
        "said_by": "registry",
    }
    assert leads_to["preset"] == {"id": other, "name": "Coding", "version": 2}
    by_own = (await explain(ada, agent, "o3")).data["leads_to"]
    assert by_own["tier"] == {"name": "own", "preset_id": preset, "said_by": "agent"}
    assert by_own["preset"]["id"] == preset


async def test_every_earlier_moment_is_explained_as_it_was(
    ada: Caller,
    root: Caller,
    owner: Caller,
    agent: UUID,
    connection: str,
    preset: str,
    resources: Resources,
) -> None:
    start = (await resources.log.head()).position
    other = await new_preset(owner, connection, visibility="public", name="Other")
    tiers = await put_tiers(root, {"fast": preset})
    written = await routed(ada, agent, to_tier("*", "fast"))
    said = preset_body([target(connection, "swift-2")], name="Renamed")
    edited = await owner.put(f"{PRESETS}/{preset}", said)
    revoked = await owner.delete(grant_path(preset, agent))
    moved = await put_tiers(root, {"fast": other})
    gone = await put_tiers(root, {})
    removed = await routed(ada, agent)
    by_routing = since(written.position, "model_routing.replaced", ada)
    by_tiers = since(tiers.position, "model_tiers.replaced", root)

    async def then(position: int) -> tuple[Any, ...]:
        explained = (await explain(ada, agent, "m", at=position)).data
        assert explained["position"] == position
        leads_to = explained["leads_to"] or {"preset": None}
        preset = leads_to["preset"] or {"name": None, "version": None}
        return (
            explained["problem"],
            preset["name"],
            preset["version"],
            *origins(explained),
        )

    assert await then(0) == ("no_route", None, None, None, None, None)
    assert await then(start) == ("no_route", None, None, None, None, None)
    assert await then(tiers.position) == (
        "no_route", None, None, None, by_tiers, None
    )  # fmt: skip
    assert await then(written.position) == (
        None,
        "Coding",
        2,
        by_routing,
        by_tiers,
        since(start, "model_preset.granted_to_agent", owner),
    )
    assert await then(edited.position) == (
        None,
        "Renamed",
        3,
        by_routing,
        by_tiers,
        since(edited.position, "model_preset.edited", owner),
    )
    assert await then(revoked.position) == (
        "preset_unavailable",
        None,
        None,
        by_routing,
        by_tiers,
        # What the agent may not call, it learns nothing of.
        None,
    )
    moved_by = since(moved.position, "model_tiers.replaced", root)
    assert (await then(moved.position))[:5] == (
        None, "Other", 1, by_routing, moved_by
    )  # fmt: skip
    assert await then(gone.position) == (
        "unknown_tier",
        None,
        None,
        by_routing,
        since(gone.position, "model_tiers.replaced", root),
        None,
    )
    assert (await then(removed.position))[:4] == (
        "no_route",
        None,
        None,
        since(removed.position, "model_routing.replaced", ada),
    )
    head = (await resources.log.head()).position
    beyond = await explain(ada, agent, "m", at=head + 1)
    assert (beyond.status, beyond.message) == (400, f"the log ends at position {head}")


async def test_a_moment_of_which_the_agent_was_not_there(
    ada: Caller, agent: UUID, preset: str
) -> None:
    await routed(ada, agent, to_preset("*", preset))

    for at in (0, 1, "2020-01-01"):
        then = (await explain(ada, agent, "m", at=at)).data
        assert (then["problem"], then["routes"], then["version"]) == ("no_route", [], 0)


async def prices(ada: Caller, agent: UUID, **more: object) -> list[Any]:
    """Return the input prices of the targets that a name leads to."""
    reply = await explain(ada, agent, "m", **more)
    assert reply.status == 200, reply.data
    return [
        each["price"] and each["price"]["input_price_per_1m"]
        for group in reply.data["leads_to"]["groups"]
        for each in group["targets"]
    ]


async def test_prices_are_those_that_were_known_then(
    ada: Caller, root: Caller, agent: UUID, preset: str
) -> None:
    written = await routed(ada, agent, to_preset("*", preset))
    assert await prices(ada, agent) == [None]
    await set_price(root, "swift-1", 2, since="2025-01-01T00:00:00Z")
    first = (await explain(ada, agent, "m")).position
    await set_price(root, "swift-1", 3, since="2025-06-01T00:00:00Z")

    assert await prices(ada, agent) == [3]
    assert await prices(ada, agent, at=first) == [2]
    assert await prices(ada, agent, at=written.position) == [None]
    models = (await ada.get(f"{path(agent)}/models")).data["models"]
    (shown,) = models[0]["groups"][0]["targets"]
    assert shown["price"]["input_price_per_1m"] == 3


class Later(datetime):
    """A clock that has gone on for long."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2999, 6, 1, tzinfo=tz)


async def test_prices_are_those_in_effect_then(
    ada: Caller, root: Caller, agent: UUID, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_price(root, "swift-1", 2, since="2025-01-01T00:00:00Z")
    await set_price(root, "swift-1", 3, since="2999-01-01T00:00:00Z")
    written = await routed(ada, agent, to_preset("*", preset))
    assert await prices(ada, agent) == [2]

    monkeypatch.setattr(explanation, "datetime", Later)

    assert await prices(ada, agent) == [3]
    assert await prices(ada, agent, at=written.position) == [2]


async def test_a_contract_counts(
    ada: Caller, root: Caller, agent: UUID, preset: str
) -> None:
    await set_price(root, "swift-1", "2.5", since="2025-01-01T00:00:00Z")
    await routed(ada, agent, to_preset("*", preset))
    body = {
        "provider": "acme",
        "discount_percent": 20,
        "effective_from": "2025-01-01T00:00:00Z",
    }
    made = await root.post("/api/llm-router/contracts", body)
    assert made.status == 201, made.data

    explained = (await explain(ada, agent, "m")).data
    (shown,) = explained["leads_to"]["groups"][0]["targets"]

    assert shown["price"]["input_price_per_1m"] == 2
    assert shown["price"]["contract_id"] is not None


async def test_who_sees_the_agent_now_sees_its_past(
    ada: Caller, owner: Caller, stranger: Caller, agent: UUID, preset: str
) -> None:
    written = await routed(ada, agent, to_preset("*", preset))
    await owner.delete(grant_path(preset, agent))
    reader = f"/api/catalog/agents/{agent}/readers/{stranger.user_id}"
    assert (await explain(stranger, agent, "m", at=written.position)).status == 404

    await ada.put(reader)
    then = await explain(stranger, agent, "m", at=written.position)
    assert then.data["leads_to"]["preset"]["id"] == preset
    await ada.delete(reader)
    assert (await explain(stranger, agent, "m", at=written.position)).status == 404


async def test_a_time_is_the_position_of_then(
    ada: Caller, root: Caller, owner: Caller, agent: UUID, preset: str
) -> None:
    written = await routed(ada, agent, to_preset("*", preset))
    entry = (await root.get(f"/api/audit/events/{written.position}")).data
    await owner.delete(grant_path(preset, agent))
    await granted(owner, preset, agent)

    then = await explain(ada, agent, "m", at=entry["recorded_at"])

    assert then.data["position"] == written.position
    assert then.data["leads_to"]["preset"]["version"] == 2
