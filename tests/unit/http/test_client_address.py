"""Which address on the way of a request counts as the client's."""

from ipaddress import ip_network

import pytest

from service.http.client_address import client_address
from service.networks import networks_of

TRUSTED = networks_of("10.0.0.0/8, ::1")
PROXY = "10.0.0.1"


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "expected"),
    [
        (PROXY, ["203.0.113.7"], "203.0.113.7"),
        ("::1", ["2001:db8::7"], "2001:db8::7"),
        # Several proxies, each appending to the header, or adding another one.
        (PROXY, ["203.0.113.7, 10.9.9.9"], "203.0.113.7"),
        (PROXY, ["203.0.113.7", "10.9.9.9"], "203.0.113.7"),
        # What the client itself has sent is before what the proxy appended.
        (PROXY, ["10.0.0.9, 203.0.113.7"], "203.0.113.7"),
        (PROXY, ["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
        # A client in one of the networks.
        (PROXY, ["10.1.2.3"], "10.1.2.3"),
        # As some proxies write addresses.
        (PROXY, ["203.0.113.7:50123"], "203.0.113.7"),
        (PROXY, ["[2001:db8::7]:50123"], "2001:db8::7"),
        (PROXY, ["[2001:db8::7]"], "2001:db8::7"),
        (PROXY, ["fe80::7%eth0"], "fe80::7"),
        ("::ffff:10.0.0.1", ["::ffff:203.0.113.7"], "203.0.113.7"),
        # Nothing that can be read.
        (PROXY, [], PROXY),
        (PROXY, [""], PROXY),
        (PROXY, ["unknown"], PROXY),
        (PROXY, ["203.0.113.7, unknown"], PROXY),
        (PROXY, ["203.0.113.7, 10.9.9.9:x:y"], PROXY),
    ],
)
def test_the_address_that_the_last_trusted_proxy_was_reached_from(
    peer: str, forwarded_for: list[str], expected: str
) -> None:
    assert client_address(peer, forwarded_for, TRUSTED) == expected


@pytest.mark.parametrize("peer", ["203.0.113.1", "fe80::1%eth0", "a name"])
def test_who_is_not_trusted_cannot_choose_an_address(peer: str) -> None:
    assert client_address(peer, ["198.51.100.1"], TRUSTED) == peer.partition("%")[0]


def test_networks_are_separated_by_commas() -> None:
    assert networks_of(None) == []
    assert [ip_network("10.0.0.0/8"), ip_network("::1/128")] == TRUSTED
    for wrong in ("", "10.0.0.1/8", "example.com", "10.0.0.0/8,"):
        with pytest.raises(ValueError, match=r"networks such as 10\.0\.0\.0/8"):
            networks_of(wrong)
