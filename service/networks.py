"""Internet addresses and networks, as settings and headers have them."""

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Annotated

from pydantic import AfterValidator

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def parsed_address(text: str) -> Address | None:
    """Return an address without its zone, or None for anything else."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def networks_of(text: str | None) -> list[Network]:
    """Return the networks that are separated by commas; none without a text.

    :raises ValueError: it has something else
    """
    if text is None:
        return []
    try:
        return [ip_network(network.strip()) for network in text.split(",")]
    except ValueError:
        raise ValueError(
            "not networks such as 10.0.0.0/8, separated by commas"
        ) from None


def _networks(text: str) -> str:
    networks_of(text)
    return text


# The text of a setting.
Networks = Annotated[str, AfterValidator(_networks)]
