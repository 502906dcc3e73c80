"""Events of calls that are sent more than once, and of those that only count tokens."""

from typing import Any

import pytest

from service.resources import Resources
from service.upstream_http.connection import Connection
from service.upstream_http.connections import Connections
from service.upstream_http.response import Response
from tests.integration.model_gateway.dialects import MESSAGES, Spoken
from tests.integration.model_gateway.faults import REFUSED
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.recorded import asked, call_of, events_of
from tests.integration.model_gateway.stage import MODEL, Stage
from tests.integration.model_gateway.test_fallback import second
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.callers import Caller
from tests.support.model_gateway.asking import CONNECTIONS
from tests.support.model_gateway.operations import target
from tests.support.sessions.pricing import set_price

READ = {"agent", "routing", "preset", "connection", "tokens"}


def sent(secret: str, version: int, owner: Caller) -> dict[str, Any]:
    return {"owner_id": str(owner.user_id), "name": secret, "version": version}


@each_dialect
async def test_the_second_target_of_a_call_is_an_event_before_it_is_sent(
    stage: Stage, resources: Resources, spoken: Spoken
) -> None:
    body = {"name": "other", "value": "sk-of-the-second-one"}
    assert (await stage.owner.post("/api/secrets", body)).status == 201
    await stage.owner.put("/api/secrets/other", {"value": "sk-of-the-second-one-2"})
    credential = {"secret_name": "other", "header": "x-api-key", "scheme": None}
    async with provider(REFUSED["500"](spoken)) as first, second(spoken) as other:
        ids = [
            await stage.connection(first.url, name="First"),
            await stage.connection(other.url, name="Second", credential=credential),
        ]
        shown = (await stage.owner.get(f"{CONNECTIONS}/{ids[1]}")).data
        changed = {
            name: shown[name] for name in ("dialects", "provider", "record_mode")
        }
        changed |= {"credential": credential, "base_url": other.url, "name": "Changed"}
        reply = await stage.owner.put(f"{CONNECTIONS}/{ids[1]}", changed)
        assert reply.status == 200, reply.data
        groups = [[target(each, MODEL, context_window=None)] for each in ids]
        preset = await stage.preset(*groups)

        assert (await stage.call(spoken)).status == 200

        call = await call_of(stage)
    admitted, repeated, finished = await events_of(resources)
    topics = [each.topic for each in (admitted, repeated, finished)]
    assert topics == [
        "model_call.admitted",
        "model_call.repeated",
        "model_call.finished",
    ]
    of_call = {each.aggregate_id for each in (admitted, repeated, finished)}
    assert {str(each) for each in of_call} == {call["id"]}
    assert repeated.metadata["actor"] == str(stage.agent)
    assert repeated.event.attempt == 2
    assert (repeated.event.preset_id, repeated.event.model) == (preset, MODEL)
    assert admitted.event.connection_id == ids[0]
    assert repeated.event.connection_id == call["connection_id"] == ids[1]
    assert admitted.event.secret == sent("provider", 1, stage.owner)
    assert repeated.event.secret == sent("other", 2, stage.owner)
    assert admitted.event.versions.keys() == repeated.event.versions.keys() == READ
    assert admitted.event.versions["connection"] == 1
    assert repeated.event.versions["connection"] == 2
    assert repeated.event.versions["preset"] == call["preset_version"] == 2
    assert other.received[0].header("x-api-key") == "sk-of-the-second-one-2"


async def test_the_first_target_that_is_reached_is_the_admission(
    stage: Stage, resources: Resources
) -> None:
    async with second(MESSAGES) as other:
        await stage.routes_to("http://127.0.0.1:1/v1", other.url)

        assert (await stage.call(MESSAGES)).status == 200

        call = await call_of(stage)
    admitted, finished = await events_of(resources)
    assert admitted.event.connection_id == call["connection_id"]
    assert [each[0] for each in asked(call)] == ["unreachable", "answered"]
    assert finished.event.how["attempts"] == call["attempts"]


async def test_a_call_that_is_sent_by_another_connection_is_admitted_anew(
    stage: Stage, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Connections.send
    ended: list[Connection] = []

    async def sends(
        connections: Connections, connection: Connection, *arguments: Any
    ) -> Response:
        if not ended:
            # Its provider closes it just now.
            connection.close()
            ended.append(connection)
        return await send(connections, connection, *arguments)

    monkeypatch.setattr(Connections, "send", sends)
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(made.url)

        assert (await stage.call(MESSAGES)).status == 200

        call = await call_of(stage)
    admitted, repeated, _ = await events_of(resources)
    assert (repeated.topic, repeated.event.attempt) == ("model_call.repeated", 2)
    assert repeated.event.connection_id == admitted.event.connection_id
    assert repeated.event.secret == admitted.event.secret
    assert asked(call) == [("answered", 200)]
    assert len(made.received) == 1


@pytest.mark.parametrize(
    ("path", "dialect", "document"),
    [
        (
            "/openai/v1/responses/input_tokens",
            "openai_responses",
            {"object": "response.input_tokens", "input_tokens": 7},
        ),
        (
            "/anthropic/v1/messages/count_tokens",
            "anthropic_messages",
            {"input_tokens": 7},
        ),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_count_of_tokens_costs_nothing(
    stage: Stage,
    root: Caller,
    path: str,
    dialect: str,
    document: Any,
    *,
    is_first: bool,
) -> None:
    await set_price(root, MODEL, 2, output=10)
    async with provider(b"") as cut, provider(answer(document)) as made:
        cut.closes = True
        await stage.routes_to(*([] if is_first else [cut.url]), made.url)

        reply = await stage.client.post(
            stage.path(path),
            json={"model": "fast", "input": "Hi"},
            headers={"x-api-key": stage.token},
        )

        assert (reply.status, await reply.json()) == (200, document)
        call = await call_of(stage)
    assert (call["counts_only"], call["dialect"]) == (True, dialect)
    assert (call["outcome"], call["status"]) == ("ok", 200)
    assert call["usage"] is None
