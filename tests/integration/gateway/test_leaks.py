"""No arguments and no credential of a call in any event, table, log line or message."""

import asyncio
import logging
import subprocess
from uuid import uuid4

import pytest

from projections.event_contract import PUBLIC_EVENTS
from projections.relay.messages import MessageBuilder
from service.gateway.gate import Admission, Pending
from tests.integration.gateway.world import ALLOW, ASK, DENY, World
from tests.integration.secrets.test_leaks import found, new_mark
from tests.support.secrets.served import postgres_program


async def test_arguments_and_credentials_are_nowhere(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    mark, planted = new_mark(), new_mark()
    arguments = {"title": f"{mark} a title {mark}"}
    await world.lend(f"{mark} {mark}")
    described = {"name": "Tracker", "url": "https://tracker.example/mcp"}
    await world.ada.put(world.connector, {**described, "description": planted})
    await world.rule(issues_any=ALLOW, issues_create=ASK, issues_delete=DENY)

    for mode in ("strict", "batched"):
        await world.record_mode(mode)
        answer = await world.call("issues.list", arguments)
        assert isinstance(answer, Admission)
        assert answer.upstream.credential is not None
        value = await answer.upstream.credential.reveal()
        assert mark in value.get_secret_value()
        await world.finish(answer)
        await world.call("issues.delete", arguments)
        await world.call(f"no {mark} tool", arguments)
        await world.gate.refused_unlisted(await world.caller(), None, f"x {mark}")
        pending = await world.call("issues.create", arguments)
        assert isinstance(pending, Pending)
        path = f"{world.agent}/approvals/{pending.approval_id}"
        assert mark in str((await world.ada.get(path)).data["arguments"])
        await world.decide(pending)
        assert isinstance(await world.call("issues.create", arguments), Admission)
    # With a credential, each call has an event of its own.
    await world.ada.delete(f"{world.connector}/credential")
    await world.finish(await world.call("issues.list", arguments))
    # One more is left open, with its arguments sealed.
    await world.call("issues.create", {**arguments, "n": 2})

    await world.read("/api/mcp/calls")
    events = await world.recorded()
    assert {"tool_call.admitted", "tool_call.batched"} <= {
        each.topic for each in events
    }
    dump = await asyncio.to_thread(
        lambda: subprocess.run(
            [postgres_program("pg_dump"), world.resources.database_url],
            check=True,
            capture_output=True,
        )
    )
    metrics = await (await world.client.get("/metrics")).read()
    builder = MessageBuilder(uuid4(), uuid4(), PUBLIC_EVENTS)
    places: dict[str, list[bytes]] = {
        "database": [dump.stdout],
        "events": [repr([vars(each.event) for each in events]).encode()],
        "log": [record.getMessage().encode() for record in caplog.records]
        + [repr(vars(record)).encode() for record in caplog.records],
        "metrics": [metrics],
        "topic": [repr(builder.build(each)).encode() for each in events],
    }
    assert {place for place, _ in found(planted, places)} >= {
        "database",
        "events",
        "topic",
    }
    assert found(mark, places) == set()
