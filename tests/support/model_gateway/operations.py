"""How the walks over all operations call those of the model gateway."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from service.http.app_keys import EVENT_LOG
from service.model_gateway.presets.terms import TARGETS_MAX
from service.model_gateway.routing.terms import ROUTES_MAX
from service.model_gateway.tiers.body import TIERS_MAX
from tests.support.model_gateway.recording import record_call
from tests.support.operations.asks import Ask, World, json_ask, whole_page
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                                   stranger  auditor  runtime  manager  reader
    get_model_connections               200      200      200      200     200
    get_model_connection                404      200      404      404     404
    post_model_connection               201      201      201      201     201
    put_model_connection                404      403      404      404     404
    delete_model_connection             404      403      404      404     404
    get_presets                         200      200      200      200     200
    get_preset                          404      200      404      200     200
    post_preset                         422      422      422      422     422
    put_preset                          404      403      404      403     403
    post_preset_preview                 404      403      404      403     403
    post_preset_restore                 404      403      404      403     403
    put_preset_agent                    404      403      404      403     403
    delete_preset_agent                 404      403      404      403     403
    delete_preset                       404      403      404      403     403
    get_tiers                           200      200      200      200     200
    put_tiers                           403      403      403      403     403
    post_tiers_preview                  403      403      403      403     403
    post_tiers_restore                  403      403      403      403     403
    get_model_routing                   404      200      404      200     200
    get_model_routing_explanation       404      200      404      200     200
    get_agent_models                    404      200      404      200     200
    put_model_routing                   404      403      404      200     403
    post_model_routing_preview          404      403      404      200     403
    post_model_routing_restore          404      403      404      200     403
    get_model_calls                     200      200      200      200     200
    get_model_call                      404      200      404      200     404
"""


def connection(**other: Any) -> dict[str, Any]:
    return {
        "name": "Anthropic",
        "base_url": "https://api.anthropic.com/v1",
        "dialects": ["anthropic_messages"],
        "provider": "acme",
        "credential": {
            "secret_name": "TRACKER_TOKEN",
            "header": "x-api-key",
            "scheme": None,
        },
        "record_mode": "strict",
        **other,
    }


def target(connection_id: str, model: str = "swift-1", **other: Any) -> dict[str, Any]:
    return {
        "connection_id": connection_id,
        "model": model,
        "weight": 1,
        "context_window": 200_000,
        **other,
    }


def preset(*groups: list[dict[str, Any]], **other: Any) -> dict[str, Any]:
    return {
        "name": "Coding",
        "description": "The large model, then the small one",
        "visibility": "private",
        "groups": [{"targets": each} for each in groups],
        "attempts": 2,
        "total_timeout_s": 600,
        "first_byte_timeout_s": 60,
        "idle_timeout_s": 60,
        "sticky_s": 3600,
        "fall_back_on": [429, 500, 529],
        **other,
    }


async def make(walk: Walk) -> None:
    made = await walk.call("post_model_connection", connection())
    connection_id = walk.ids["connection_id"] = made.data["id"]
    await walk.call("put_model_connection", connection(name="Anthropic, research"))
    await walk.call("get_model_connections")
    await walk.call("get_model_connection")
    groups = [target(connection_id)], [target(connection_id, "swift-mini")]
    made = await walk.call("post_preset", preset(*groups))
    walk.ids["preset_id"] = made.data["id"]
    then = walk.position
    changed = preset(*groups, attempts=3)
    await walk.call("post_preset_preview", changed)
    await walk.call("put_preset", changed)
    await walk.call("post_preset_restore", {"at": then})
    await walk.call("put_preset_agent")
    await walk.call("get_presets")
    await walk.call("get_preset")
    await _make_routing(walk)


async def _make_routing(walk: Walk) -> None:
    preset_id = walk.ids["preset_id"]
    tiers = {"tiers": {"fast": preset_id}}
    await walk.call("post_tiers_preview", tiers)
    await walk.call("put_tiers", tiers)
    then = walk.position
    await walk.call("post_tiers_restore", {"at": then})
    await walk.call("get_tiers")
    routing = {
        "routes": [
            {"model": "claude-haiku-*", "tier": "fast"},
            {"model": "*", "preset_id": preset_id},
        ],
        "tiers": {"fast": preset_id},
    }
    await walk.call("post_model_routing_preview", routing)
    await walk.call("put_model_routing", routing)
    await walk.call("post_model_routing_restore", {"at": walk.position})
    await walk.call("get_model_routing")
    asked = {"model": "claude-haiku-4-5", "input_tokens": 250_000}
    await walk.call("get_model_routing_explanation", query=asked)
    await walk.call("get_agent_models")
    walk.ids["model_call_id"] = await record_call(
        walk.caller.client.app,
        UUID(walk.ids["agent_id"]),
        UUID(walk.ids["agent_token_id"]),
    )
    walk.position = (await walk.caller.client.app[EVENT_LOG].head()).position
    await walk.call("get_model_calls", query={"agent_id": walk.ids["agent_id"]})
    await walk.call("get_model_call")


async def end(walk: Walk) -> None:
    await walk.call("delete_preset_agent")
    await walk.call("delete_preset")
    await walk.call("delete_model_connection")


def hostile_models() -> list[str]:
    """Patterns with many ways to match, each with its own end."""
    return [f"{'*a' * 61}*{number:02}?" for number in range(ROUTES_MAX)]


def _preset(world: World) -> Iterator[Ask]:
    long = "\N{GRINNING FACE}" * 120
    targets = [
        target(world.ids["connection_id"], f"{number}{long}")
        for number in range(TARGETS_MAX)
    ]
    for what, groups in (
        ("one group", [targets]),
        (
            "as many groups as there may be",
            [targets[:9], *([each] for each in targets[9:])],
        ),
    ):
        yield json_ask(what, preset(*groups, description="d" * 2000))
    unknown = [
        target(f"{number:08x}-0000-4000-8000-000000000000")
        for number in range(TARGETS_MAX)
    ]
    yield json_ask("unknown connections", preset(unknown))


def _tiers(world: World) -> Iterator[Ask]:
    names = [f"{'t' * 60}{number:03}" for number in range(TIERS_MAX)]
    there = dict.fromkeys(names, world.ids["preset_id"])
    yield json_ask("as many tiers as there may be", {"tiers": there})
    unknown = {
        name: f"{number:08x}-0000-4000-8000-000000000000"
        for number, name in enumerate(names)
    }
    yield json_ask("unknown presets", {"tiers": unknown})


def _routing(world: World) -> Iterator[Ask]:
    preset_id = world.ids["public_preset_id"]
    agents = {"agent_id": world.ids["hostile_agent_id"]}
    for what, models in (
        ("hostile patterns", hostile_models()),
        ("question marks", [f"{'?' * 120}{each:02}" for each in range(ROUTES_MAX)]),
    ):
        routes = [{"model": each, "preset_id": preset_id} for each in models]
        yield json_ask(what, {"routes": routes, "tiers": {}}, **agents)
    routes = [
        {"model": each, "preset_id": f"{number:08x}-0000-4000-8000-000000000000"}
        for number, each in enumerate(hostile_models())
    ]
    yield json_ask("unknown presets", {"routes": routes, "tiers": {}}, **agents)


def _explained(world: World) -> Iterator[Ask]:
    path = {"agent_id": world.ids["hostile_agent_id"]}
    for model in ("a" * 256, "*" * 256, "b"):
        query = urlencode({"model": model, "input_tokens": 100_000})
        yield Ask(what=f"a model of {model[0]}", path=path, query=query)


def _models(world: World) -> Iterator[Ask]:
    path = {"agent_id": world.ids["hostile_agent_id"]}
    yield Ask(what="as many targets as there may be", path=path)


def _calls(_world: World) -> Iterator[Ask]:
    """Yield bodies of model calls, of an agent that can call nothing."""
    named = {"model": "m"}
    yield json_ask("a long text", {**named, "messages": ["x" * 30_000_000]})
    yield json_ask("a long text of escapes", {**named, "messages": ["\n" * 8_000_000]})
    yield json_ask("many values", {**named, "input": [0] * 490_000})
    yield json_ask("too many values", {**named, "input": [0] * 10_000_000})
    yield json_ask("many lists", b'{"model":"m","input":[' + b"[]," * 160_000 + b"0]}")
    yield json_ask("deep", b'{"model":"m","input":' + b"[" * 400_000)
    yield json_ask("many names", {**named, **dict.fromkeys(map(str, range(100_000)))})
    yield json_ask("a long name", {"model": "m" * 1_000_000})


FORWARDED = (
    "post_chat_completions",
    "post_responses",
    "post_input_tokens",
    "post_embeddings",
    "post_messages",
    "post_count_tokens",
)
OF_LISTS = (
    "get_openai_models",
    "get_openai_model",
    "get_anthropic_models",
    "get_anthropic_model",
)
OTHER_PATHS = ("get_model_gateway", "get_other_path", "post_other_path")


OPERATIONS = WalkedOperations(
    after=("agents", "agent_tokens", "secrets", "price_catalog"),
    make=make,
    end=end,
    access=ACCESS,
    not_asked=dict.fromkeys(
        [*FORWARDED, *OF_LISTS, *OTHER_PATHS],
        "speaks another protocol, and takes tokens of agents alone",
    ),
    worst={
        **dict.fromkeys(FORWARDED, _calls),
        "get_model_connections": whole_page,
        "get_model_calls": whole_page,
        "get_presets": whole_page,
        "post_preset": _preset,
        "put_preset": _preset,
        "post_preset_preview": _preset,
        "put_tiers": _tiers,
        "post_tiers_preview": _tiers,
        "put_model_routing": _routing,
        "post_model_routing_preview": _routing,
        "get_model_routing": _models,
        "get_model_routing_explanation": _explained,
        "get_agent_models": _models,
    },
    simple=frozenset(
        [
            "get_model_call",
            *OF_LISTS,
            *OTHER_PATHS,
            "delete_model_connection",
            "delete_preset",
            "delete_preset_agent",
            "get_model_connection",
            "get_preset",
            "get_tiers",
            "post_model_connection",
            "post_model_routing_restore",
            "post_preset_restore",
            "post_tiers_restore",
            "put_model_connection",
            "put_preset_agent",
        ]
    ),
)
