"""Which models an agent could call now, and why some it can't."""

from uuid import UUID

import pytest

from service.resources import Resources
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    TIERS,
    connection_body,
    explain,
    grant_path,
    granted,
    new_connection,
    new_preset,
    path,
    preset_body,
    problems,
    put_tiers,
    routed,
    to_preset,
    to_tier,
)
from tests.support.model_gateway.operations import target
from tests.support.sessions.pricing import set_price


async def test_an_agent_without_routes_can_call_nothing(
    ada: Caller, agent: UUID
) -> None:
    reply = await ada.get(f"{path(agent)}/models")

    assert (reply.status, reply.message) == (200, "models of the agent")
    assert reply.data == {"agent_id": str(agent), "version": 0, "models": []}
    assert reply.headers["ETag"] == '"0"'
    explained = (await explain(ada, agent, "a")).data
    assert (explained["problem"], explained["leads_to"]) == ("no_route", None)
    assert (explained["routes"], explained["routing_since"]) == ([], None)


async def test_a_route_is_shown_with_targets_and_prices(
    root: Caller, ada: Caller, owner: Caller, agent: UUID, connection: str
) -> None:
    set_to = await set_price(root, "swift-1", "2.5", output="0")
    price_id = f"{set_to['model_id']}:{set_to['price']['price_version']}"
    other = await new_connection(
        owner,
        name="Other",
        dialects=["anthropic_messages", "openai_chat"],
        provider="unknown",
    )
    groups = [
        [target(connection), target(other, "b", weight=3, context_window=None)],
        [target(connection, "unpriced", context_window=1000)],
    ]
    made = await owner.post(PRESETS, preset_body(*groups, name="Coding"))
    preset = made.data["id"]
    await granted(owner, preset, agent)
    await put_tiers(root, {"fast": preset})
    await routed(ada, agent, to_tier("claude-*", "fast"), to_preset("x", preset))

    reply = await ada.get(f"{path(agent)}/models")

    by_tier = {
        "model": "claude-*",
        "problem": None,
        "tier": {"name": "fast", "preset_id": preset, "said_by": "registry"},
        "preset": {"id": preset, "name": "Coding", "version": 2},
        "dialects": ["anthropic_messages"],
        "groups": [
            {
                "targets": [
                    {
                        "connection_id": connection,
                        "connection": "Anthropic",
                        "provider": "acme",
                        "model": "swift-1",
                        "weight": 1,
                        "context_window": 200_000,
                        "problem": None,
                        "fits": None,
                        "price": {
                            "input_price_per_1m": 2.5,
                            "output_price_per_1m": 0,
                            "cache_creation_price_per_1m": None,
                            "cache_read_price_per_1m": None,
                            "currency": "USD",
                            "priced_as": "acme/swift-1",
                            "price_id": price_id,
                            "contract_id": None,
                        },
                    },
                    {
                        "connection_id": other,
                        "connection": "Other",
                        "provider": "unknown",
                        "model": "b",
                        "weight": 3,
                        "context_window": None,
                        "problem": None,
                        "fits": None,
                        "price": None,
                    },
                ]
            },
            {
                "targets": [
                    {
                        "connection_id": connection,
                        "connection": "Anthropic",
                        "provider": "acme",
                        "model": "unpriced",
                        "weight": 1,
                        "context_window": 1000,
                        "problem": None,
                        "fits": None,
                        "price": None,
                    }
                ]
            },
        ],
    }
    assert reply.data["version"] == 2
    assert reply.data["models"] == [by_tier, {**by_tier, "model": "x", "tier": None}]
    asked = await explain(ada, agent, "claude-1", input_tokens=1001)
    fits = [
        [each["fits"] for each in group["targets"]]
        for group in asked.data["leads_to"]["groups"]
    ]
    assert fits == [[True, None], [False]]


async def test_a_revoked_grant_shows_at_once(
    ada: Caller, owner: Caller, agent: UUID, preset: str
) -> None:
    await routed(ada, agent, to_preset("a", preset))
    assert await problems(ada, agent) == {"a": None}

    await owner.delete(grant_path(preset, agent))
    assert await problems(ada, agent) == {"a": "preset_unavailable"}
    listed = (await ada.get(f"{path(agent)}/models")).data["models"]
    assert (listed[0]["preset"], listed[0]["groups"]) == (None, [])

    await granted(owner, preset, agent)
    assert await problems(ada, agent) == {"a": None}


async def test_a_preset_that_is_retired_or_private_shows_at_once(
    ada: Caller, owner: Caller, agent: UUID, connection: str
) -> None:
    first = await new_preset(owner, connection, visibility="public")
    second = await new_preset(owner, connection, visibility="public")
    await routed(ada, agent, to_preset("a", first), to_preset("b", second))
    assert await problems(ada, agent) == {"a": None, "b": None}

    await owner.delete(f"{PRESETS}/{first}")
    assert await problems(ada, agent) == {"a": "preset_unavailable", "b": None}
    await owner.put(f"{PRESETS}/{second}", preset_body([target(connection)]))
    assert await problems(ada, agent) == {
        "a": "preset_unavailable",
        "b": "preset_unavailable",
    }


async def test_a_retired_connection_shows_at_once(
    ada: Caller, owner: Caller, root: Caller, agent: UUID, connection: str
) -> None:
    other = await new_connection(owner)
    preset = await new_preset(owner, connection, other, visibility="public")
    await routed(ada, agent, to_preset("a", preset))

    await owner.delete(f"{CONNECTIONS}/{connection}")
    assert await problems(ada, agent) == {"a": None}
    explained = (await explain(ada, agent, "a", input_tokens=1)).data["leads_to"]
    shown = [
        (each["connection_id"], each["connection"], each["problem"])
        for group in explained["groups"]
        for each in group["targets"]
    ]
    assert shown == [
        (connection, "Anthropic", "connection_retired"),
        (other, "Anthropic", None),
    ]
    await root.delete(f"{CONNECTIONS}/{other}")
    assert await problems(ada, agent) == {"a": "no_target"}


async def test_a_connection_that_speaks_something_else_shows_at_once(
    ada: Caller, owner: Caller, agent: UUID, connection: str
) -> None:
    other = await new_connection(owner)
    preset = await new_preset(owner, connection, other, visibility="public")
    await routed(ada, agent, to_preset("a", preset))

    changed = connection_body(dialects=["openai_chat"])
    await owner.put(f"{CONNECTIONS}/{other}", changed)

    assert await problems(ada, agent) == {"a": "no_common_dialect"}


async def test_tiers_of_the_registry_come_and_go(
    ada: Caller, owner: Caller, root: Caller, agent: UUID, connection: str, preset: str
) -> None:
    private = await new_preset(owner, connection)
    await put_tiers(root, {"fast": preset, "slow": preset})
    await routed(
        ada,
        agent,
        to_tier("a", "fast"),
        to_tier("b", "slow"),
        to_tier("c", "own"),
        tiers={"own": preset},
    )
    assert await problems(ada, agent) == {"a": None, "b": None, "c": None}

    await put_tiers(root, {"slow": private, "own": private})

    assert await problems(ada, agent) == {
        "a": "unknown_tier",
        "b": "preset_unavailable",
        "c": None,
    }
    listed = (await ada.get(f"{path(agent)}/models")).data["models"]
    assert [each["tier"] for each in listed] == [
        {"name": "fast", "preset_id": None, "said_by": None},
        {"name": "slow", "preset_id": private, "said_by": "registry"},
        {"name": "own", "preset_id": preset, "said_by": "agent"},
    ]
    assert (await ada.get(TIERS)).status == 200


async def test_a_retired_agent_calls_nothing(
    ada: Caller, agent: UUID, preset: str, resources: Resources
) -> None:
    await routed(ada, agent, to_preset("a", preset))
    before = (await resources.log.head()).position
    await ada.delete(f"/api/catalog/agents/{agent}")

    assert await problems(ada, agent) == {"a": "agent_retired"}
    then = await explain(ada, agent, "a", at=before)
    assert then.data["problem"] is None


@pytest.mark.parametrize("other", ["A", "ab", "b", "a "])
async def test_a_name_is_matched_as_a_whole_and_with_its_case(
    ada: Caller, agent: UUID, preset: str, other: str
) -> None:
    await routed(ada, agent, to_preset("a", preset))

    assert (await explain(ada, agent, "a")).data["problem"] is None
    assert (await explain(ada, agent, other)).data["problem"] == "no_route"


async def test_names_of_any_characters(ada: Caller, agent: UUID, preset: str) -> None:
    await routed(ada, agent, to_preset("?*", preset))

    for model in ("a b", "é", "*", "a\nb", "anthropic/claude", "x" * 256):
        explained = (await explain(ada, agent, model)).data
        assert (explained["model"], explained["problem"]) == (model, None)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "model=",
        "model=" + "x" * 257,
        "model=a&at=never",
        "model=a&input_tokens=-1",
        "model=a&input_tokens=1.5",
        "model=a&input_tokens=100000001",
        "model=a&tier=fast",
    ],
)
async def test_malformed_queries(ada: Caller, agent: UUID, query: str) -> None:
    reply = await ada.get(f"{path(agent)}/explain?{query}")

    assert reply.status == 400
