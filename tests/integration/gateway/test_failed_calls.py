"""What the service's log says of calls that fail."""

import logging
from uuid import uuid4

import pytest

from service.gateway.endpoint.failed_calls import INTERVAL_S, FailedCalls
from service.gateway.gate import Outcome, RecordMode, Upstream
from service.gateway.upstream.errors import NO_ANSWER, UpstreamError, bad_status
from tests.integration.gateway.plain_upstream import drop
from tests.integration.gateway.stage import forwarding, opened

LOGGER = "service.gateway.endpoint.failed_calls"


def upstream(name: str) -> Upstream:
    url = "https://tools.example/mcp?key=secret"
    return Upstream(
        connector_id=uuid4(), url=url, mode=RecordMode.STRICT, version=1, name=name
    )


def test_a_connectors_cause_is_a_warning_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    now = [0.0]
    failed = FailedCalls(clock=lambda: now[0])
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
    # Repeating it puts the next warning off by nothing.
    now[0] = INTERVAL_S - 1
    assert levels((one, late)) == ["DEBUG"]
    now[0] = INTERVAL_S + 1
    assert levels((one, late)) == ["WARNING"]


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
