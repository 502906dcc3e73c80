"""The addresses that the service may connect to: public ones, and set networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from service.networks import Address, Network, parsed_address
from service.upstream_http.errors import ConnectCause

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
_LOOPBACK: Final = ip_address("127.0.0.1")
_NAT64: Final = ip_network("64:ff9b::/96")


class AddressRefusedError(OSError):
    """The address must not be connected to."""

    def __init__(self, message: str, cause: ConnectCause) -> None:
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """``networks`` may be connected to in addition to the internet, also without TLS.

    So may ``demo_port`` of 127.0.0.1, where the tools of the demo are.
    """

    networks: Sequence[Network] = ()
    demo_port: int | None = None

    def check(self, host: str, *, tls: bool, port: int | None = None) -> None:
        """Check the address of a socket that is about to be connected.

        :raises AddressRefusedError: it isn't allowed, or no address at all
        """
        address = parsed_address(host)
        if address is None:
            # Such as 2130706433, which the system would connect to 127.0.0.1.
            raise AddressRefusedError("not an address", ConnectCause.INVALID_URL)
        if address == _LOOPBACK and port is not None and port == self.demo_port:
            return
        embedded = _embedded(address)
        if any(each in METADATA for each in (address, embedded)):
            raise AddressRefusedError(
                "an address of a metadata service", ConnectCause.METADATA_ADDRESS
            )
        if any(embedded in network for network in self.networks):
            return
        if not _is_public(embedded):
            raise AddressRefusedError(
                "not a public address", ConnectCause.PRIVATE_ADDRESS
            )
        if not tls:
            raise AddressRefusedError(
                "a public address without TLS", ConnectCause.TLS_REQUIRED
            )


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
