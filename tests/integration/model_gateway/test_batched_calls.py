"""Calls of connections whose owner lets them be recorded in batches."""

import asyncio
from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest

from service.call_recording import recorder
from service.errors import UnavailableError
from service.event_log.execute import execute as append
from service.model_gateway.calls import gate
from service.resources import Resources
from tests.integration.model_gateway.dialects import CHAT, Spoken
from tests.integration.model_gateway.faults import REFUSED
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.recorded import (
    CALLS,
    asked,
    call_of,
    calls_of,
    events_of,
)
from tests.integration.model_gateway.stage import Stage
from tests.integration.model_gateway.test_fallback import second
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    granted,
    new_preset,
    put_routing,
    routed,
    to_preset,
)
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.waiting import TIMEOUT_S, until

KEPT = ("name", "base_url", "dialects", "provider", "credential")
Switch = Callable[[Stage, list[str]], Any]


async def record(stage: Stage, connection: str, mode: str) -> None:
    """Have its owner say how calls of a connection are recorded."""
    path = f"{CONNECTIONS}/{connection}"
    shown = (await stage.owner.get(path)).data
    body = {name: shown[name] for name in KEPT} | {"record_mode": mode}
    reply = await stage.owner.put(path, body)
    assert reply.status == 200, reply.data


async def batching(stage: Stage, *urls: str, **terms: Any) -> list[str]:
    """Route every name to providers, by batched connections; return their ids."""
    await stage.routes_to(*urls, **terms)
    listed = (await stage.owner.get(CONNECTIONS)).data["connections"]
    by_url = {each["base_url"]: str(each["id"]) for each in listed}
    for url in urls:
        await record(stage, by_url[url], "batched")
    return [by_url[url] for url in urls]


async def batched(resources: Resources) -> tuple[list[Any], list[Any]]:
    """Return all admissions with token and secret, and all ends with digests.

    There are no other events of model calls.
    """
    events = await events_of(resources)
    assert {each.topic for each in events} == {"model_call.batched"}
    admitted = [
        zip(each.event.admitted, each.event.token_ids, each.event.secrets, strict=True)
        for each in events
    ]
    finished = [
        zip(each.event.finished, each.event.digests, strict=True) for each in events
    ]
    return [*chain(*admitted)], [*chain(*finished)]


async def test_batched_calls_keep_their_tokens_and_secrets_in_order(
    stage: Stage, resources: Resources
) -> None:
    tokens = f"/api/mcp/agents/{stage.agent}/tokens"
    made = (await stage.ada.post(tokens, {"label": "other"})).data
    (first,) = (
        each
        for each in (await stage.ada.get(tokens)).data["tokens"]
        if each["id"] != made["id"]
    )
    token_of = {"a": (first["id"], stage.token), "b": (made["id"], made["token"])}
    await stage.owner.post("/api/secrets", {"name": "other", "value": "sk-other-012"})
    credential = {"secret_name": "other", "header": "x-api-key", "scheme": None}
    async with second(CHAT) as one, second(CHAT) as other:
        ids = [
            await stage.connection(one.url, name="A", record_mode="batched"),
            await stage.connection(
                other.url, name="B", record_mode="batched", credential=credential
            ),
        ]
        presets = [await new_preset(stage.owner, each) for each in ids]
        for each in presets:
            await granted(stage.owner, each, stage.agent)
        routes = zip(("a*", "b*"), presets, strict=True)
        await routed(stage.ada, stage.agent, *(to_preset(*each) for each in routes))

        names = [f"{kind}{number}" for number in range(4) for kind in "ab"]
        replies = await asyncio.gather(
            *(
                stage.call(
                    CHAT,
                    model=name,
                    headers={"Authorization": f"Bearer {token_of[name[0]][1]}"},
                )
                for name in names
            )
        )

        assert [each.status for each in replies] == [200] * len(names)
        calls = await calls_of(stage, len(names))
    admitted, finished = await batched(resources)
    assert sorted(call["asked_for"] for call, _, _ in admitted) == sorted(names)
    for call, token_id, secret in admitted:
        kind = call["asked_for"][0]
        assert token_id == token_of[kind][0]
        assert secret["name"] == {"a": "provider", "b": "other"}[kind]
        assert call["connection_id"] == ids["ab".index(kind)]
    of_call = {each["id"]: each for each in calls}
    assert {how["call_id"] for how, _ in finished} == of_call.keys()
    assert all(digests for _, digests in finished)
    for call, token_id, _ in admitted:
        shown = of_call[call["call_id"]]
        assert (shown["record_mode"], shown["outcome"]) == ("batched", "ok")
        assert (shown["asked_for"], shown["token_id"]) == (call["asked_for"], token_id)
    one_call = await stage.ada.get(f"{CALLS}/{calls[0]['id']}")
    assert one_call.data["explanation"]["leads_to"]["preset"]["id"] in presets
    await expect_rebuild_equals_live(resources, "model_calls")


@each_dialect
async def test_attempts_of_a_batched_call_are_in_its_batches(
    stage: Stage, resources: Resources, spoken: Spoken
) -> None:
    async with provider(REFUSED["500"](spoken)) as first, second(spoken) as other:
        ids = await batching(stage, first.url, other.url)

        assert (await stage.call(spoken)).status == 200

        call = await call_of(stage)
    admitted, ((how, _),) = await batched(resources)
    assert [each["attempt"] for each, _, _ in admitted] == [1, 2]
    assert [each["connection_id"] for each, _, _ in admitted] == ids
    assert {each["call_id"] for each, _, _ in admitted} == {call["id"]}
    assert how["call_id"] == call["id"]
    assert (call["connection_id"], call["record_mode"]) == (ids[1], "batched")
    assert asked(call) == [("status", 500), ("answered", 200)]


async def test_a_call_is_strict_unless_all_targets_are_batched(
    stage: Stage, resources: Resources
) -> None:
    async with second(CHAT) as first, second(CHAT) as other:
        ids = await batching(stage, first.url, other.url)
        await record(stage, ids[1], "strict")

        assert (await stage.call(CHAT)).status == 200

        call = await call_of(stage)
    assert call["record_mode"] == "strict"
    topics = [each.topic for each in await events_of(resources)]
    assert topics == ["model_call.admitted", "model_call.finished"]


async def _first_is_strict(stage: Stage, ids: list[str]) -> None:
    await record(stage, ids[0], "strict")


async def _second_is_strict(stage: Stage, ids: list[str]) -> None:
    await record(stage, ids[1], "strict")


async def _no_route(stage: Stage, _ids: list[str]) -> None:
    assert (await put_routing(stage.ada, stage.agent)).status == 200


@pytest.mark.parametrize(
    ("switch", "status", "outcome", "attempts"),
    [
        (_first_is_strict, 500, "provider_error", [("changed", None)]),
        (_second_is_strict, 500, "provider_error", [("changed", None)]),
        (_no_route, 404, "refused", []),
    ],
)
async def test_what_changes_between_two_targets_keeps_a_batched_call_from_the_second(
    stage: Stage,
    resources: Resources,
    switch: Switch,
    status: int,
    outcome: str,
    attempts: list[Any],
) -> None:
    goes_on = asyncio.Event()

    async def refuses(writer: asyncio.StreamWriter) -> None:
        await asyncio.wait_for(goes_on.wait(), TIMEOUT_S)
        writer.write(REFUSED["500"](CHAT))

    async with provider(refuses) as first, second(CHAT) as other:
        ids = await batching(stage, first.url, other.url)
        calling = asyncio.ensure_future(stage.call(CHAT))
        await until(lambda: first.received)

        await switch(stage, ids)
        goes_on.set()

        assert (await calling).status == status
        call = await call_of(stage)
        assert other.received == []
    assert (call["record_mode"], call["outcome"]) == ("batched", outcome)
    assert asked(call) == [("status", 500), *attempts]
    admitted, _ = await batched(resources)
    assert len(admitted) == 1


class Failing:
    """Appends of a module that fail, or seem to, until the log is back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, appends: bool) -> None:
        self.failures = 0
        self.is_back = False

        async def executes(*arguments: Any, **named: Any) -> Any:
            if self.is_back:
                return await append(*arguments, **named)
            if appends:
                await append(*arguments, **named)
            self.failures += 1
            raise UnavailableError("the log is unavailable", code="database_busy")

        monkeypatch.setattr(recorder, "execute", executes)


@pytest.mark.parametrize("mode", ["batched", "strict"])
@pytest.mark.parametrize("appends", [True, False])
async def test_a_call_is_recorded_once_when_the_log_is_back(
    stage: Stage,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    *,
    appends: bool,
) -> None:
    async with second(CHAT) as made:
        (connection,) = await batching(stage, made.url)
        await record(stage, connection, mode)
        failing = Failing(monkeypatch, appends=appends)
        for _ in range(2):
            assert (await stage.call(CHAT)).status == 200
            seen = failing.failures
            await until(lambda: failing.failures > seen + 1)  # noqa: B023 # at once

        failing.is_back = True

        calls = await calls_of(stage, 2)
    assert [each["outcome"] for each in calls] == ["ok", "ok"]
    ids = sorted(each["id"] for each in calls)
    if mode == "batched":
        admitted, finished = await batched(resources)
        assert sorted(each["call_id"] for each, _, _ in admitted) == ids
        assert sorted(how["call_id"] for how, _ in finished) == ids
    else:
        ended = await events_of(resources, "finished")
        assert sorted(str(each.aggregate_id) for each in ended) == ids


async def test_no_strict_call_is_sent_that_cannot_be_recorded(
    stage: Stage, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def executes(*_: Any, **__: Any) -> Any:
        raise UnavailableError("the log is unavailable", code="database_busy")

    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        with monkeypatch.context() as patched:
            patched.setattr(gate, "execute", executes)
            assert (await stage.call(CHAT)).status == 503

        call = await call_of(stage)
    assert (call["decision"], call["reason"]) == ("refused", "database_busy")
    assert made.received == []
    assert await events_of(resources, "admitted") == []
