"""What the service's log says of calls that fail."""

import logging
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web

from service import outages
from service.call_recording.modes import RecordMode
from service.gateway.endpoint.failed_calls import FailedCalls
from service.gateway.gate import Outcome, Upstream
from service.gateway.upstream.errors import NO_ANSWER, UpstreamError, bad_status
from service.outages import CALM_S
from tests.integration.gateway.plain_upstream import drop, hello
from tests.integration.gateway.stage import forwarding, opened

LOGGER = "service.gateway.endpoint.failed_calls"


def upstream(name: str) -> Upstream:
    url = "https://tools.example/mcp?key=secret"
    return Upstream(
        connector_id=uuid4(), url=url, mode=RecordMode.STRICT, version=1, name=name
    )


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_connectors_cause_is_a_warning_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    clock = Clock()
    failed = FailedCalls(clock)
    one, other = upstream("Issues"), upstream("Calendar")
    late = UpstreamError(NO_ANSWER, Outcome.TIMEOUT)

    def levels(*of: tuple[Upstream, UpstreamError]) -> list[str]:
        caplog.clear()
        for each in of:
            failed.log(*each)
        return [record.levelname for record in caplog.records]

    refused = bad_status(500)
    assert levels((one, late), (one, late), (one, refused), (other, late)) == [
        "WARNING",
        "DEBUG",
        "WARNING",
        "WARNING",
    ]
    clock.now = 10 * CALM_S
    assert levels((other, late)) == ["DEBUG"]
    moved = replace(other, url="https://elsewhere.example/mcp")
    assert levels((moved, late)) == ["WARNING"]


def test_that_calls_are_answered_again_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    clock = Clock()
    failed = FailedCalls(clock)
    connector = upstream("Issues")
    failed.answered(connector)
    failed.log(connector, bad_status(500))
    caplog.clear()

    # It may fail again at once, as what overloads it does.
    failed.answered(connector)
    failed.log(connector, bad_status(500))
    assert not caplog.records

    clock.now = CALM_S
    failed.answered(connector)
    failed.answered(connector)
    [told] = caplog.records
    assert told.levelname == "INFO"
    assert told.message == "connector 'Issues' at tools.example answers calls again"
    assert vars(told)["connector_id"] == str(connector.connector_id)

    failed.log(connector, bad_status(500))
    assert caplog.records[-1].levelname == "WARNING"


async def test_hundreds_of_failed_calls_are_one_line_and_their_end_another(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    is_failing = True

    async def fail(request: web.Request, body: Any) -> web.StreamResponse:
        return web.Response(status=500) if is_failing else await hello(request, body)

    async with forwarding(fail) as (_, stage):
        for _ in range(200):
            await stage.call("tools_add")
        is_failing = False
        monkeypatch.setattr(outages, "CALM_S", 0.0)
        await stage.call("tools_add")
        await stage.call("tools_add")

    told = [each for each in caplog.records if each.name == LOGGER]
    assert [each.levelname for each in told] == ["WARNING", "INFO"]


async def test_a_call_that_failed_is_logged_with_its_connector(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with forwarding(drop) as (_, stage):
        (connector,) = stage.gate.upstreams.values()
        stage.gate.change(connector, name="Issues")
        await stage.call("tools_add")
        await stage.call("tools_add")

    (told,) = [each for each in caplog.records if each.name == LOGGER]
    assert told.levelname == "WARNING"
    assert told.getMessage().startswith(
        "a tool call to connector 'Issues' at 127.0.0.1:"
    )
    assert "failed: the tool's server ended the connection" in told.getMessage()
    assert told.getMessage().endswith("had answered (ConnectionResetError)")
    assert vars(told)["connector_id"] == str(connector.connector_id)
    assert vars(told)["cause"] == "connection_closed"
    assert "call_id" in vars(told)


async def test_a_call_that_was_not_sent_is_logged_with_its_connector(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with opened() as stage:
        connector = stage.gate.connect("http://127.0.0.1:1/mcp", "add")
        await stage.call("tools_add")

    (told,) = [each for each in caplog.records if each.name == LOGGER]
    assert "at 127.0.0.1:1 was not sent: the tool's server can't be" in told.message
    assert "(connection refused)" in told.message
    assert vars(told)["connector_id"] == str(connector.connector_id)
    assert "call_id" not in vars(told)
