"""DNS rebinding: a name resolves to another address at the next connection."""

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from service.gateway.gate import Outcome
from service.gateway.upstream.errors import ADDRESS_REFUSED
from tests.integration.gateway.plain_upstream import (
    PlainUpstream,
    hello,
    plain_upstream,
)
from tests.integration.gateway.stage import opened

NAME = "upstream.example"
ALLOWED = "127.0.0.1"
METADATA = ["169.254.169.254", "::ffff:169.254.169.254", "100.100.100.200"]
FORBIDDEN = [*METADATA, "10.0.0.1", "192.168.1.1", "fd00:ec2::254", "::1", "127.0.0.2"]
ONE_HOST = ip_network(f"{ALLOWED}/32")


@dataclass
class Network:
    """What ``NAME`` resolves to, and the addresses that sockets were connected to.

    The upstream answers at all of them: nothing leaves this machine.
    """

    addresses: Sequence[str] = (ALLOWED,)
    connected: set[str] = field(default_factory=set)

    @staticmethod
    def url(upstream: PlainUpstream, host: str = NAME) -> str:
        return str(URL(upstream.url).with_host(host))


@pytest.fixture
async def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    network = Network()
    loop = asyncio.get_running_loop()
    resolve, connect = socket.getaddrinfo, loop.sock_connect

    def getaddrinfo(host: Any, port: Any, *given: Any, **more: Any) -> Any:
        names = network.addresses if host == NAME else (host,)
        return [each for name in names for each in resolve(name, port, *given, **more)]

    async def sock_connect(sock: socket.socket, address: Any) -> None:
        network.connected.add(address[0])
        is_ipv6 = sock.family == socket.AF_INET6
        here = f"::ffff:{ALLOWED}" if is_ipv6 else ALLOWED
        await connect(sock, (here, address[1]))

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(loop, "sock_connect", sock_connect)
    return network


async def hello_and_close(request: web.Request, body: Any) -> web.StreamResponse:
    """Answer, and make the gateway connect again for the next call."""
    response = await hello(request, body)
    response.force_close()
    return response


@pytest.mark.parametrize("address", FORBIDDEN)
async def test_a_name_that_is_rebound_is_refused(
    network: Network, address: str
) -> None:
    async with (
        plain_upstream(hello_and_close) as upstream,
        opened(networks=[ONE_HOST]) as stage,
    ):
        stage.gate.connect(network.url(upstream), "add")
        before = await stage.call("tools_add")
        network.addresses = (address,)

        rebound = await stage.call("tools_add")
        network.addresses = (ALLOWED,)
        after = await stage.call("tools_add")

    assert (before.content, after.content) == ("hello", "hello")
    assert rebound.content == ADDRESS_REFUSED
    assert network.connected == {ALLOWED}
    assert len(upstream.requests) == 2
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK, Outcome.OK]
    assert stage.gate.refusals == ["not_connected"]


async def test_a_name_may_move_to_another_allowed_address(network: Network) -> None:
    networks = [ONE_HOST, ip_network("10.0.0.0/8"), ip_network("fc00::/7")]
    async with (
        plain_upstream(hello_and_close) as upstream,
        opened(networks=networks) as stage,
    ):
        stage.gate.connect(network.url(upstream), "add")
        for address in (ALLOWED, "10.0.0.1", "fd00::1"):
            network.addresses = (address,)
            assert (await stage.call("tools_add")).content == "hello"

    assert network.connected == {ALLOWED, "10.0.0.1", "fd00::1"}


async def test_only_allowed_addresses_of_a_name_are_connected_to(
    network: Network,
) -> None:
    network.addresses = (*FORBIDDEN, ALLOWED)
    async with plain_upstream() as upstream, opened(networks=[ONE_HOST]) as stage:
        stage.gate.connect(network.url(upstream), "add")

        got = await stage.call("tools_add")

    assert got.content == "hello"
    assert network.connected == {ALLOWED}


@pytest.mark.parametrize("host", [NAME, None], ids=["by name", "by address"])
@pytest.mark.parametrize("address", [*METADATA, "fd00:ec2::254"])
async def test_metadata_services_are_refused_in_allowed_networks(
    network: Network, address: str, host: str | None
) -> None:
    network.addresses = (address,)
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    async with plain_upstream() as upstream, opened(networks=everything) as stage:
        stage.gate.connect(network.url(upstream, host or address), "add")

        got = await stage.call("tools_add")

    assert got.content == ADDRESS_REFUSED
    assert network.connected <= {ALLOWED}
    assert not upstream.requests
    assert not stage.gate.calls
    assert stage.gate.refusals == ["not_connected"]
