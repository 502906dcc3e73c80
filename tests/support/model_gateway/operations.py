"""How the walks over all operations call those of the model gateway."""

from typing import Any

from tests.support.operations.asks import whole_page
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


async def end(walk: Walk) -> None:
    await walk.call("delete_preset_agent")
    await walk.call("delete_preset")
    await walk.call("delete_model_connection")


OPERATIONS = WalkedOperations(
    after=("agents", "secrets", "price_catalog"),
    make=make,
    end=end,
    access=ACCESS,
    worst={
        "get_model_connections": whole_page,
        "get_presets": whole_page,
    },
    simple=frozenset(
        [
            "delete_model_connection",
            "delete_preset",
            "delete_preset_agent",
            "get_agent_models",
            "get_model_connection",
            "get_model_routing",
            "get_model_routing_explanation",
            "get_preset",
            "get_tiers",
            "post_model_connection",
            "post_model_routing_preview",
            "post_model_routing_restore",
            "post_preset",
            "post_preset_preview",
            "post_preset_restore",
            "post_tiers_preview",
            "post_tiers_restore",
            "put_model_connection",
            "put_model_routing",
            "put_preset",
            "put_preset_agent",
            "put_tiers",
        ]
    ),
)
