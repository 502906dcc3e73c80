"""What is retired, revoked or not owned tells nothing, and calls nothing."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from service.resources import Resources
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    caught_up,
    connection_body,
    explain,
    grant_path,
    new_connection,
    new_preset,
    path,
    problems,
    put_routing,
    put_tiers,
    routed,
    to_preset,
    to_tier,
)
from tests.support.sessions.pricing import set_price


async def test_the_past_of_a_retired_public_preset_is_its_owners(
    owner: Caller, stranger: Caller, root: Caller, connection: str, resources: Resources
) -> None:
    preset = await new_preset(owner, connection, visibility="public")
    made = (await resources.log.head()).position
    await owner.delete(f"{PRESETS}/{preset}")
    await caught_up(resources)

    statuses = [
        (await caller.get(f"{PRESETS}/{preset}?at={made}")).status
        for caller in (owner, root, stranger)
    ]

    assert statuses == [200, 200, 404]


async def test_nothing_is_told_of_a_private_preset_behind_a_tier(
    ada: Caller, owner: Caller, root: Caller, agent: UUID, connection: str
) -> None:
    private = await new_preset(owner, connection)
    await put_tiers(root, {"fast": private})
    await routed(ada, agent, to_tier("a", "fast"))
    assert (await ada.get(f"{PRESETS}/{private}")).status == 404

    explained = (await explain(ada, agent, "a")).data

    assert explained["problem"] == "preset_unavailable"
    assert explained["preset_since"] is None
    assert explained["leads_to"]["groups"] == []


async def test_a_connection_without_its_secret_is_no_target(
    ada: Caller, owner: Caller, agent: UUID
) -> None:
    await owner.post("/api/secrets", {"name": "key", "value": "x"})
    connection = await new_connection(owner, credential={"secret_name": "key"})
    preset = await new_preset(owner, connection, visibility="public")
    await routed(ada, agent, to_preset("a", preset))
    assert await problems(ada, agent) == {"a": None}

    assert (await owner.delete("/api/secrets/key")).status == 200

    assert await problems(ada, agent) == {"a": "no_target"}
    explained = (await explain(ada, agent, "a")).data["leads_to"]
    assert explained["groups"][0]["targets"][0]["problem"] == "no_credential"
    read = (await owner.get(f"{PRESETS}/{preset}")).data
    assert (read["dialects"], read["problem"]) == ([], "no_target")


async def test_a_presets_owner_sees_that_its_connections_differ(
    owner: Caller, connection: str
) -> None:
    other = await new_connection(owner)
    preset = await new_preset(owner, connection, other)

    body = connection_body(dialects=["openai_chat"])
    await owner.put(f"{CONNECTIONS}/{other}", body)

    read = (await owner.get(f"{PRESETS}/{preset}")).data
    assert (read["dialects"], read["problem"]) == ([], "no_common_dialect")


async def test_a_restored_route_leads_nowhere_else_than_then(
    ada: Caller, owner: Caller, root: Caller, agent: UUID, connection: str, preset: str
) -> None:
    other = await new_preset(owner, connection, visibility="public")
    await put_tiers(root, {"fast": other})
    route = to_tier("a", "fast")
    good = await routed(ada, agent, route, tiers={"fast": preset})
    await routed(ada, agent)
    await owner.delete(grant_path(preset, agent))

    restored = await ada.post(f"{path(agent)}/restore", {"at": good.position})

    assert restored.data["left_out"] == {"routes": [route], "tiers": {"fast": preset}}
    assert restored.data["routes"] == []


async def test_a_restore_says_which_connection_is_gone(
    owner: Caller, connection: str
) -> None:
    other = await new_connection(owner)
    preset = await new_preset(owner, connection, other)
    made = await owner.get(f"{PRESETS}/{preset}")
    alone = {
        name: made.data[name]
        for name in made.data
        if name in ("name", "description", "visibility", "attempts", "sticky_s")
        or name.endswith("timeout_s")
    }
    alone |= {"groups": made.data["groups"][:1], "fall_back_on": [429]}
    edited = await owner.put(f"{PRESETS}/{preset}", alone)
    await owner.delete(f"{CONNECTIONS}/{other}")

    refused = await owner.post(
        f"{PRESETS}/{preset}/restore", {"at": edited.position - 1}
    )

    assert (refused.status, refused.code) == (422, "unknown_connection")
    place = "groups[1].targets[0].connection_id"
    assert refused.data["errors"] == [
        {"path": "at", "message": f"{place}: no such connection: {other}"}
    ]


async def test_who_does_not_own_a_preset_restores_none_of_it(
    root: Caller, ada: Caller, owner: Caller, preset: str
) -> None:
    for caller in (root, ada):
        refused = await caller.post(f"{PRESETS}/{preset}/restore", {"at": 0})
        assert refused.status == 403
    outdated = await owner.post(
        f"{PRESETS}/{preset}/restore", {"at": 0}, If_Match='"9"'
    )
    assert outdated.status == 412


async def test_a_tier_of_the_routing_itself_is_no_unknown_tier(
    ada: Caller, agent: UUID
) -> None:
    refused = await put_routing(
        ada, agent, to_tier("a", "own"), tiers={"own": str(uuid4())}
    )

    assert [each["path"] for each in refused.data["errors"]] == ["tiers.own"]


async def test_a_time_in_the_future_has_the_prices_of_now(
    ada: Caller, root: Caller, agent: UUID, preset: str
) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    await set_price(root, "swift-1", "2")
    await set_price(root, "swift-1", "3", since=f"{tomorrow:%Y-%m-%dT%H:%M:%SZ}")
    await routed(ada, agent, to_preset("*", preset))

    explained = (await explain(ada, agent, "m", at="2999-06-01T00:00:00Z")).data

    (target,) = explained["leads_to"]["groups"][0]["targets"]
    assert target["price"]["input_price_per_1m"] == 2
