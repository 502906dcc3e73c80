"""Lists of models, and what is forwarded beside the three dialects' own calls."""

from datetime import datetime
from typing import Any

import pytest

from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.stage import KEY, Stage
from tests.support.model_gateway.asking import new_preset, routed, to_preset

EMBEDDED = {"object": "list", "data": [], "model": "swift-1", "usage": {}}


@pytest.mark.parametrize(
    ("path", "provider_path", "body", "document"),
    [
        ("/openai/v1/embeddings", "/v1/embeddings", {"input": ["a", "b"]}, EMBEDDED),
        (
            "/openai/v1/responses/input_tokens",
            "/v1/responses/input_tokens",
            {"input": "Hi"},
            {"object": "response.input_tokens", "input_tokens": 7},
        ),
        (
            "/anthropic/v1/messages/count_tokens",
            "/v1/messages/count_tokens",
            {"messages": [{"role": "user", "content": "Hi"}]},
            {"input_tokens": 7},
        ),
    ],
)
async def test_what_else_is_forwarded(
    stage: Stage, path: str, provider_path: str, body: Any, document: Any
) -> None:
    async with provider(answer(document)) as made:
        await stage.routes_to(made.url)

        reply = await stage.client.post(
            f"{stage.path(path)}?beta=true",
            json={"model": "fast", **body},
            headers={"x-api-key": stage.token},
        )

        assert (reply.status, await reply.json()) == (200, document)
    (received,) = made.received
    assert received.target == f"{provider_path}?beta=true"
    assert received.json == {"model": "swift-1", **body}
    assert received.header("Authorization") == f"Bearer {KEY}"


@pytest.fixture
async def listed(stage: Stage) -> Stage:
    """An agent with models of one API, of both, and of none."""
    presets = {}
    for name, dialects in (
        ("chat", ["openai_chat"]),
        ("messages", ["anthropic_messages"]),
        ("both", ["openai_responses", "anthropic_messages"]),
    ):
        connection = await stage.connection(
            "http://127.0.0.1:9/v1", name=name, dialects=dialects
        )
        presets[name] = await new_preset(
            stage.owner, connection, model=f"{name}/1", visibility="public"
        )
    await routed(
        stage.ada,
        stage.agent,
        to_preset("fast", presets["chat"]),
        to_preset("smart", presets["messages"]),
        to_preset("acme/large:1", presets["both"]),
        to_preset("chat/*", presets["chat"]),
    )
    return stage


async def read(stage: Stage, path: str, status: int = 200) -> Any:
    reply = await stage.client.get(stage.path(path), headers={"x-api-key": stage.token})
    assert reply.status == status, await reply.text()
    assert (reply.headers.get("x-should-retry") == "false") is (status >= 400)
    return await reply.json()


async def test_models_are_listed_as_openai_does(listed: Stage) -> None:
    document = await read(listed, "/openai/v1/models")

    assert document.keys() == {"object", "data"}
    assert document["object"] == "list"
    names = [each["id"] for each in document["data"]]
    assert names == ["fast", "acme/large:1", "chat/1"]
    for each in document["data"]:
        assert each.keys() == {"id", "object", "created", "owned_by"}
        assert (each["object"], each["owned_by"]) == ("model", "acme")
        assert isinstance(each["created"], int)
        assert await read(listed, f"/openai/v1/models/{each['id']}") == each


async def test_models_are_listed_as_anthropic_does(listed: Stage) -> None:
    document = await read(listed, "/anthropic/v1/models?limit=1000")

    assert document.keys() == {"data", "has_more", "first_id", "last_id"}
    assert [each["id"] for each in document["data"]] == ["smart", "acme/large:1"]
    assert document["has_more"] is False
    assert (document["first_id"], document["last_id"]) == ("smart", "acme/large:1")
    for each in document["data"]:
        assert each.keys() == {"type", "id", "display_name", "created_at"}
        assert (each["type"], each["display_name"]) == ("model", each["id"])
        assert datetime.fromisoformat(each["created_at"]).tzinfo is not None
        assert await read(listed, f"/anthropic/v1/models/{each['id']}") == each


async def test_an_agent_without_models_gets_empty_lists(stage: Stage) -> None:
    empty = {"data": [], "has_more": False, "first_id": None, "last_id": None}

    assert await read(stage, "/openai/v1/models") == {"object": "list", "data": []}
    assert await read(stage, "/anthropic/v1/models") == empty


@pytest.mark.parametrize(
    ("api", "name"),
    [
        ("openai", "nowhere"),
        ("openai", "smart"),
        ("openai", "chat/*"),
        ("openai", "fast/"),
        ("anthropic", "fast"),
        ("anthropic", "a/b/c"),
    ],
)
async def test_no_other_model_is_read(listed: Stage, api: str, name: str) -> None:
    document = await read(listed, f"/{api}/v1/models/{name}", 404)

    assert "there is no such model" in document["error"]["message"]
    if api == "openai":
        assert document["error"]["code"] == "model_not_found"
    else:
        assert document["error"]["type"] == "not_found_error"


@pytest.mark.parametrize("api", ["openai", "anthropic"])
@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/fast"])
async def test_models_are_read_with_a_token_only(
    listed: Stage, api: str, path: str
) -> None:
    reply = await listed.client.get(listed.path(f"/{api}{path}"))

    assert reply.status == 401
    assert (await reply.json())["error"]["type"] == "authentication_error"
