"""The addresses that the gateway may connect to: public ones, and set networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Metadata services of clouds, which give credentials; also in allowed networks.
METADATA: Final = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
        ),
    )
)
_GLOBAL_UNICAST: Final = ip_network("2000::/3")
_NAT64: Final = ip_network("64:ff9b::/96")


class AddressRefusedError(OSError):
    """The address must not be connected to."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """``networks`` may be connected to besides the internet, also without TLS."""

    networks: Sequence[Network] = ()

    def check(self, host: str, *, tls: bool) -> None:
        """Check the address of a socket that is about to be connected.

        :raises AddressRefusedError: it isn't allowed, or no address at all
        """
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            # Such as 2130706433, which the system would connect to 127.0.0.1.
            raise AddressRefusedError("not an address") from None
        embedded = _embedded(address)
        if any(each in METADATA for each in (address, embedded)):
            raise AddressRefusedError("an address of a metadata service")
        if any(embedded in network for network in self.networks):
            return
        if not (tls and _is_public(embedded)):
            raise AddressRefusedError("not a public address, or without TLS")


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _embedded(address: Address) -> Address:
    """Return the IPv4 address that packets to an IPv6 address end at, or itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return (
        address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
    )
