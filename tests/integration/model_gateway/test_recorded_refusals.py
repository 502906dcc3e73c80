"""What is on record of refused calls: one entry for each reason, and no odd words."""

import asyncio
from typing import Any

import pytest

from service.model_gateway.endpoint import limits
from service.resources import Resources
from tests.integration.model_gateway.dialects import (
    CHAT,
    DIALECTS,
    MESSAGES,
    Spoken,
)
from tests.integration.model_gateway.faults import NOBODY, REFUSED
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.recorded import CALLS, call_of, calls_of, events_of
from tests.integration.model_gateway.stage import Stage
from tests.integration.model_gateway.test_faults import Deadline, deadline
from tests.integration.model_gateway.test_forwarding import each_dialect
from tests.integration.model_gateway.test_late_revocations import (
    Connecting,
    Revocation,
    _connection,
    _route,
    _token,
)
from tests.support.callers import Callers
from tests.support.model_gateway.asking import CONNECTIONS
from tests.support.waiting import until

__all__ = ["deadline"]


async def refused(stage: Stage, times: int) -> list[dict[str, Any]]:
    """Return the refusals on record, once they are so many calls."""
    found: list[dict[str, Any]] = []

    async def all_of_them() -> bool:
        found[:] = await calls_of(stage, 0, query="&decision=refused")
        return sum(int(each["times"]) for each in found) >= times

    await until(all_of_them)
    assert sum(each["times"] for each in found) == times
    return found


async def code_of(reply: Any, spoken: Spoken) -> str | None:
    error = (await reply.json())["error"]
    return None if spoken is MESSAGES else error["code"]


async def assert_refused(
    stage: Stage, spoken: Spoken, reason: str, asked_for: str | None = "fast"
) -> None:
    """Call three times, and check that this is on record, for this reason."""
    for _ in range(3):
        reply = await stage.call(spoken, metadata={"session_id": "chat-1"})
        assert await code_of(reply, spoken) in (reason, None)
    found = await refused(stage, 3)
    assert len(found) <= 3
    for each in found:
        assert (each["decision"], each["reason"]) == ("refused", reason)
        assert (each["asked_for"], each["dialect"]) == (asked_for, spoken.dialect)
        assert each["session_id"] == ("chat-1" if asked_for else None)
        assert (each["outcome"], each["usage"], each["model"]) == (None, None, None)
        assert (await stage.ada.get(f"{CALLS}/{each['id']}")).status == 200


@each_dialect
async def test_an_unknown_model_is_a_refusal(stage: Stage, spoken: Spoken) -> None:
    await assert_refused(stage, spoken, "model_not_found")


@each_dialect
async def test_a_model_without_a_target_is_a_refusal(
    stage: Stage, spoken: Spoken
) -> None:
    preset = await stage.routes_to(NOBODY)
    await _connection(stage, preset)

    await assert_refused(stage, spoken, "no_target")


@each_dialect
async def test_a_model_of_another_dialect_is_a_refusal(
    stage: Stage, spoken: Spoken
) -> None:
    preset = await stage.routes_to(NOBODY)
    (connection,) = (await stage.owner.get(CONNECTIONS)).data["connections"]
    others = [each for each in DIALECTS if each != spoken.dialect]
    names = ("name", "base_url", "provider", "credential", "record_mode")
    body = {name: connection[name] for name in names} | {"dialects": others}
    reply = await stage.owner.put(f"{CONNECTIONS}/{connection['id']}", body)
    assert reply.status == 200, (reply.data, preset)

    await assert_refused(stage, spoken, "wrong_dialect")


@each_dialect
@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("CALLS_OF_AGENT_MAX", "too_many_calls"),
        ("CALLS_MAX", "too_many_calls"),
        ("BODIES_OF_AGENT_BYTES_MAX", "too_many_bytes"),
        ("BODIES_BYTES_MAX", "too_many_bytes"),
    ],
)
async def test_a_call_too_many_is_a_refusal_of_an_unknown_name(
    stage: Stage,
    spoken: Spoken,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    reason: str,
) -> None:
    monkeypatch.setattr(limits, limit, 0)

    await assert_refused(stage, spoken, reason, asked_for=None)


@each_dialect
async def test_a_call_that_no_target_can_be_reached_for_is_a_refusal(
    stage: Stage, spoken: Spoken
) -> None:
    await stage.routes_to(NOBODY)
    # Fewer than leave the target alone.
    for _ in range(2):
        assert (await stage.call(spoken)).status == 503

    assert {each["reason"] for each in await refused(stage, 2)} == {"no_answer"}


@each_dialect
async def test_a_call_while_all_targets_are_left_alone_is_a_refusal(
    stage: Stage, spoken: Spoken
) -> None:
    async with provider(REFUSED["402"](spoken)) as made:
        await stage.routes_to(made.url)
        assert (await stage.call(spoken)).status == 402

        await assert_refused(stage, spoken, "targets_suspended")
    assert len(made.received) == 1


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"model":1}', b'{"model":"a","model":"b"}']
)
async def test_a_body_that_is_no_call_is_a_refusal(stage: Stage, body: bytes) -> None:
    assert (await stage.call(CHAT, body)).status == 400

    (call,) = await refused(stage, 1)
    assert (call["reason"], call["asked_for"]) == ("malformed_request", None)


@pytest.mark.parametrize(
    ("revoke", "reason"),
    [
        (_token, "unauthenticated"),
        (_route, "model_not_found"),
        (_connection, "no_target"),
    ],
)
async def test_what_is_taken_back_while_a_call_connects_is_a_refusal(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, revoke: Revocation, reason: str
) -> None:
    connecting = Connecting(monkeypatch)
    async with provider(answer(MESSAGES.whole)) as made:
        preset = await stage.routes_to(made.url)
        call = asyncio.ensure_future(stage.call(MESSAGES))
        await connecting.is_held.wait()
        await revoke(stage, preset)

        connecting.may_go.set()

        assert (await call).status in (401, 404)
        (found,) = await refused(stage, 1)
    assert (found["reason"], found["asked_for"]) == (reason, "fast")


async def test_a_call_that_takes_too_long_to_connect_is_a_refusal(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, deadline: Deadline
) -> None:
    connecting = Connecting(monkeypatch)
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(made.url, total_timeout_s=1)
        call = asyncio.ensure_future(stage.call(MESSAGES))
        await connecting.is_held.wait()

        deadline.comes()

        assert (await call).status == 503
        (found,) = await refused(stage, 1)
    # As the error's code says.
    assert (found["reason"], found["asked_for"]) == ("no_answer", "fast")
    assert made.received == []


async def test_a_call_without_a_valid_token_leaves_no_event(
    stage: Stage, resources: Resources, callers: Callers
) -> None:
    user = await callers.user("eve")
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)
        for token in ("", "agt_wrong", str(user.token), stage.token[:-1]):
            headers = {"Authorization": f"Bearer {token}"}
            assert (await stage.call(CHAT, headers=headers)).status == 401
        # One that is recorded, after them.
        assert (await stage.call(CHAT)).status == 200

        await call_of(stage)
    topics = [each.topic for each in await events_of(resources)]
    assert topics == ["model_call.admitted", "model_call.finished"]
