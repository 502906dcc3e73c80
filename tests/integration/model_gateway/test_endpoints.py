"""Who may call, what is refused, and in whose shape."""

from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import ClientResponse

from service.users.tokens import AGENT_PREFIX, new_token
from tests.integration.model_gateway.dialects import CHAT, MESSAGES, RESPONSES, Spoken
from tests.integration.model_gateway.provider import Provider, answer, provider
from tests.integration.model_gateway.stage import Stage
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    new_connection,
    new_preset,
    preset_body,
    put_tiers,
    routed,
    to_preset,
    to_tier,
)
from tests.support.model_gateway.operations import target
from tests.support.tool_rules.setting import Setting

SPOKEN = pytest.mark.parametrize(
    "spoken", [CHAT, RESPONSES, MESSAGES], ids=lambda each: each.dialect.value
)
FOREIGN = "sk-ant-oat01-of-somebody-else"
NOBODY = "00000000-0000-4000-8000-000000000000"
UNKNOWN = new_token(bytes(32), prefix=AGENT_PREFIX)


async def sent(
    stage: Stage, spoken: Spoken, headers: Mapping[str, str]
) -> ClientResponse:
    """Send a call with these headers alone, with the token where they say ``TOKEN``."""
    return await stage.client.post(
        stage.path(spoken.path),
        data=spoken.request(),
        headers={
            name: value.replace("TOKEN", stage.token) for name, value in headers.items()
        },
    )


async def error_of(reply: ClientResponse, spoken: Spoken) -> tuple[str, str]:
    """Return the kind and message of a refusal that has the shape of its API."""
    document = await reply.json()
    request_id = reply.headers["X-Request-Id"]
    if spoken is MESSAGES:
        assert document.keys() == {"type", "error", "request_id"}
        assert (document["type"], document["request_id"]) == ("error", request_id)
        assert document["error"].keys() == {"type", "message"}
    else:
        assert document.keys() == {"error"}
        assert document["error"].keys() == {"message", "type", "param", "code"}
    return document["error"]["type"], document["error"]["message"]


@SPOKEN
@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer TOKEN"},
        {"authorization": "bearer TOKEN"},
        {"x-api-key": "TOKEN"},
        {"X-API-KEY": "TOKEN", "Authorization": f"Bearer {FOREIGN}"},
        {"x-api-key": FOREIGN, "Authorization": "Bearer TOKEN"},
        {"x-api-key": "TOKEN", "Authorization": "Bearer TOKEN"},
        {"x-api-key": "TOKEN", "Authorization": "Basic YTpi"},
    ],
)
async def test_a_token_may_stand_in_two_headers(
    stage: Stage, spoken: Spoken, headers: dict[str, str]
) -> None:
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        reply = await sent(stage, spoken, headers)

        assert (reply.status, await reply.json()) == (200, spoken.whole)
    assert stage.token not in str(made.received)
    assert FOREIGN not in str(made.received)


@SPOKEN
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": f"Bearer {UNKNOWN}"},
        {"x-api-key": UNKNOWN},
        {"x-api-key": FOREIGN},
        {"Authorization": "Bearer TOKENx"},
        {"Authorization": "TOKEN"},
        {"Authorization": "Basic TOKEN"},
        {"api-key": "TOKEN"},
        {"Cookie": "session=TOKEN"},
    ],
)
async def test_without_a_valid_token_nothing_is_forwarded(
    stage: Stage, spoken: Spoken, headers: dict[str, str]
) -> None:
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        reply = await sent(stage, spoken, headers)

        await refused_token(reply, spoken, made)


async def refused_token(reply: ClientResponse, spoken: Spoken, made: Provider) -> None:
    assert reply.status == 401
    kind, _ = await error_of(reply, spoken)
    assert kind == "authentication_error"
    if spoken is not MESSAGES:
        assert (await reply.json())["error"]["code"] == "invalid_api_key"
    assert reply.headers["x-should-retry"] == "false"
    assert made.received == []


@SPOKEN
async def test_a_token_of_another_agent_is_refused(
    stage: Stage, spoken: Spoken, setting: Setting
) -> None:
    other = await setting.agent(stage.ada)
    issued = await stage.ada.post(f"/api/mcp/agents/{other}/tokens", {"label": "other"})
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        reply = await sent(stage, spoken, {"x-api-key": issued.data["token"]})

        await refused_token(reply, spoken, made)


@SPOKEN
async def test_a_users_token_is_refused(stage: Stage, spoken: Spoken) -> None:
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)

        reply = await sent(stage, spoken, {"x-api-key": str(stage.ada.token)})

        await refused_token(reply, spoken, made)


@SPOKEN
async def test_a_revoked_token_is_refused_from_then_on(
    stage: Stage, spoken: Spoken
) -> None:
    issued = await stage.ada.post(
        f"/api/mcp/agents/{stage.agent}/tokens", {"label": "to be revoked"}
    )
    headers = {"Authorization": f"Bearer {issued.data['token']}"}
    async with provider(answer(spoken.whole)) as made:
        await stage.routes_to(made.url)
        assert (await sent(stage, spoken, headers)).status == 200
        made.received.clear()

        revoked = await stage.ada.delete(
            f"/api/mcp/agents/{stage.agent}/tokens/{issued.data['id']}"
        )

        assert revoked.status == 200
        await refused_token(await sent(stage, spoken, headers), spoken, made)


async def without_request_id(reply: ClientResponse) -> tuple[Any, ...]:
    """Return all that a client sees of an answer, but for the request's id."""
    request_id = reply.headers["X-Request-Id"]
    content = (await reply.read()).replace(request_id.encode(), b"")
    headers = [
        (name, value)
        for name, value in reply.raw_headers
        if name.lower() not in (b"date", b"x-request-id")
    ]
    return reply.status, content, headers


@SPOKEN
async def test_a_model_that_may_not_be_called_is_as_one_that_is_not_there(
    stage: Stage, spoken: Spoken, stranger: Caller, root: Caller
) -> None:
    async with provider(answer(spoken.whole)) as made:
        own = await stage.routes_to(made.url)
        theirs = await new_connection(stranger, base_url=made.url)
        foreign = await new_preset(stranger, theirs, visibility="public")
        private = await new_preset(
            stage.owner, await stage.connection(made.url, name="Other")
        )
        await put_tiers(root, {"fast": foreign, "private": private})
        await routed(
            stage.ada,
            stage.agent,
            to_preset("mine", own),
            to_preset("theirs", foreign),
            to_tier("private", "private"),
            to_tier("gone", "fast"),
        )
        await put_tiers(root, {"private": private})
        hidden = preset_body([target(theirs)], visibility="private")
        put = await stranger.put(f"{PRESETS}/{foreign}", hidden)
        assert put.status == 200, put.data
        assert (await stage.call(spoken, model="mine")).status == 200
        made.received.clear()

        seen = [
            await without_request_id(await stage.call(spoken, model=model))
            for model in (
                "nowhere",
                "theirs",
                "private",
                "gone",
                "",
                "\N{GRINNING FACE}",
            )
        ]

    assert seen == [seen[0]] * len(seen)
    status, content, headers = seen[0]
    assert status == 404
    assert b"there is no such model" in content
    assert (b"x-should-retry", b"false") in headers
    assert made.received == []


@SPOKEN
async def test_a_model_that_speaks_another_dialect_is_refused(
    stage: Stage, spoken: Spoken
) -> None:
    async with provider(answer(spoken.whole)) as made:
        connection = await stage.connection(made.url, dialects=["openai_embeddings"])
        preset = await new_preset(stage.owner, connection, visibility="public")
        await routed(stage.ada, stage.agent, to_preset("*", preset))

        reply = await stage.call(spoken)

        assert reply.status == 400
        kind, message = await error_of(reply, spoken)
        assert kind == "invalid_request_error"
        assert message.endswith("the dialects of its targets: openai_embeddings")
        assert reply.headers["x-should-retry"] == "false"
    assert made.received == []


@SPOKEN
async def test_a_model_whose_connection_is_retired_has_no_target(
    stage: Stage, spoken: Spoken
) -> None:
    async with provider(answer(spoken.whole)) as made:
        connection = await stage.connection(made.url)
        preset = await new_preset(stage.owner, connection, visibility="public")
        await routed(stage.ada, stage.agent, to_preset("*", preset))
        retired = await stage.owner.delete(f"{CONNECTIONS}/{connection}")
        assert retired.status == 200

        reply = await stage.call(spoken)

        assert reply.status == 404
        kind, message = await error_of(reply, spoken)
        assert kind in ("not_found_error", "invalid_request_error")
        assert "no target that can be called" in message
        if spoken is not MESSAGES:
            assert (await reply.json())["error"]["code"] == "no_target"
        assert reply.headers["x-should-retry"] == "false"
    assert made.received == []


@SPOKEN
@pytest.mark.parametrize(
    ("agent_id", "status"), [("x", 400), ("1", 400), (NOBODY, 401)]
)
async def test_an_agent_that_is_not_there_is_refused(
    stage: Stage, spoken: Spoken, agent_id: str, status: int
) -> None:
    reply = await stage.client.post(
        f"/llm/agents/{agent_id}{spoken.path}",
        data=spoken.request(),
        headers={"x-api-key": stage.token},
    )

    assert reply.status == status
    await error_of(reply, spoken)
    assert reply.headers["x-should-retry"] == "false"
