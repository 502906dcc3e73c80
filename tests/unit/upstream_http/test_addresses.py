"""Which addresses are refused, and why."""

from ipaddress import ip_network

import pytest

from service.upstream_http.addresses import AddressPolicy, AddressRefusedError
from service.upstream_http.errors import ConnectCause

REFUSED = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",  # noqa: S104
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "127.1",
    "localhost",
    "",
]


@pytest.mark.parametrize("address", REFUSED)
def test_addresses_that_are_refused(address: str) -> None:
    with pytest.raises(AddressRefusedError):
        AddressPolicy().check(address, tls=True)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_the_internet_is_allowed_with_tls_only(address: str) -> None:
    AddressPolicy().check(address, tls=True)

    with pytest.raises(AddressRefusedError):
        AddressPolicy().check(address, tls=False)


@pytest.mark.parametrize(
    ("address", "port"),
    [("127.0.0.1", 5433), ("127.0.0.1", None), ("127.0.0.2", 5432), ("::1", 5432)],
)
def test_the_demo_opens_one_port_of_one_address(address: str, port: int | None) -> None:
    policy = AddressPolicy(demo_port=5432)
    policy.check("127.0.0.1", tls=False, port=5432)

    for tls in (False, True):
        with pytest.raises(AddressRefusedError):
            policy.check(address, tls=tls, port=port)
        with pytest.raises(AddressRefusedError):
            AddressPolicy().check("127.0.0.1", tls=tls, port=5432)


def test_allowed_networks_need_no_tls() -> None:
    policy = AddressPolicy((ip_network("10.0.0.0/8"), ip_network("169.254.0.0/16")))

    policy.check("10.1.2.3", tls=False)
    policy.check("::ffff:10.1.2.3", tls=False)
    for address in ("169.254.169.254", "::ffff:169.254.169.254", "11.0.0.1"):
        with pytest.raises(AddressRefusedError):
            policy.check(address, tls=False)


@pytest.mark.parametrize(
    ("host", "tls", "cause"),
    [
        ("8.8.8.8", False, ConnectCause.TLS_REQUIRED),
        ("10.0.0.1", True, ConnectCause.PRIVATE_ADDRESS),
        ("10.0.0.1", False, ConnectCause.PRIVATE_ADDRESS),
        ("169.254.169.254", True, ConnectCause.METADATA_ADDRESS),
    ],
)
def test_refused_addresses_are_told_apart(
    host: str,
    tls: bool,  # noqa: FBT001
    cause: ConnectCause,
) -> None:
    with pytest.raises(AddressRefusedError) as refused:
        AddressPolicy().check(host, tls=tls)

    assert refused.value.cause is cause
