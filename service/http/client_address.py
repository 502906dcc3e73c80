"""The address that a request comes from, also through proxies that are trusted."""

from collections.abc import Sequence
from ipaddress import IPv6Address
from typing import Final

from aiohttp import web

from service.networks import Address, Network, parsed_address

TRUSTED_PROXIES: web.AppKey[Sequence[Network]] = web.AppKey("trusted_proxies")
FORWARDED_FOR: Final = "X-Forwarded-For"


def address_of(request: web.Request) -> str | None:
    """Return the address of the client that a request comes from, if it is known."""
    trusted = request.app[TRUSTED_PROXIES]
    if not trusted or request.remote is None:
        return request.remote
    forwarded_for = request.headers.getall(FORWARDED_FOR, ())
    return client_address(request.remote, forwarded_for, trusted)


def client_address(
    peer: str, forwarded_for: Sequence[str], trusted: Sequence[Network]
) -> str:
    """Return the last address on a request's way that isn't a trusted proxy's.

    Each proxy appends to ``X-Forwarded-For`` the address that it was reached from,
    some as a second header: what stands before the first that isn't trusted may be
    invented. The last trusted one is returned if that is unreadable, or nothing.
    """
    address = _parsed(peer)
    if address is None:
        return peer
    hops = ",".join(forwarded_for).split(",")
    while hops and any(address in network for network in trusted):
        before = _parsed(hops.pop())
        if before is None:
            break
        address = before
    return str(address)


def _parsed(text: str) -> Address | None:
    """Return an address; some proxies write it with a port."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    address = parsed_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
