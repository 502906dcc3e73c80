"""What wasn't sent to a connector, as calls tell it."""

from collections.abc import Callable
from typing import Any

import pytest

from service.gateway.gate import Outcome
from service.gateway.upstream.connections import (
    UpstreamConnections,
    open_upstream_connections,
)
from service.gateway.upstream.errors import (
    ADDRESS_REFUSED,
    NOT_FOUND,
    NOT_REACHABLE,
    Cause,
    NotConnectedError,
    NotSentError,
)
from service.upstream_http.addresses import AddressPolicy
from tests.integration.gateway.plain_upstream import PlainUpstream
from tests.integration.gateway.stage import LOOPBACK

CONNECTING: dict[str, Callable[[UpstreamConnections, str], Any]] = {
    "post": lambda connections, url: connections.post(url, {}, b"{}"),
    "get": lambda connections, url: connections.get(url, {}),
    "connect": lambda connections, url: connections.connect(url),
}


@pytest.mark.parametrize("way", CONNECTING)
async def test_an_address_that_is_refused(way: str, upstream: PlainUpstream) -> None:
    async with open_upstream_connections(AddressPolicy()) as connections:
        with pytest.raises(NotConnectedError) as refused:
            await CONNECTING[way](connections, upstream.url)

    error = refused.value
    assert (error.message, error.outcome) == (ADDRESS_REFUSED, Outcome.NOT_SENT)
    assert error.cause is Cause.PRIVATE_ADDRESS
    assert error.detail == "not a public address"


async def test_what_is_no_url_is_refused_before_a_connection_is_looked_for() -> None:
    async with open_upstream_connections(AddressPolicy()) as connections:
        with pytest.raises(NotConnectedError) as refused:
            connections.kept("http://")

    error = refused.value
    assert (error.message, error.outcome) == (NOT_FOUND, Outcome.NOT_SENT)
    assert (error.cause, error.detail) == (Cause.INVALID_URL, "not a URL of HTTP")


async def test_a_reserved_connection_that_has_ended(upstream: PlainUpstream) -> None:
    async with open_upstream_connections(AddressPolicy([LOOPBACK])) as connections:
        connection = await connections.connect(upstream.url)
        connection.close()
        with pytest.raises(NotSentError) as unsent:
            await connections.send(connection, upstream.url, {}, b"{}")

    error = unsent.value
    assert (error.message, error.outcome) == (NOT_REACHABLE, Outcome.NOT_SENT)
    assert error.cause is Cause.UNREACHABLE
    assert error.detail == "the connection was closed"
