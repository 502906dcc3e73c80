"""The headers of model calls: what goes on to the other side, and what doesn't."""

from collections.abc import Iterable
from typing import Final

from multidict import CIMultiDict, CIMultiDictProxy

# RFC 9110, section 7.6.1, and those that frame a message, which is framed anew.
HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
CREDENTIALS: Final = frozenset({"api-key", "authorization", "cookie", "x-api-key"})
# What proxies in front of this service say of the client's address.
OF_PROXIES: Final = frozenset({"forwarded", "true-client-ip", "via", "x-real-ip"})
ALSO_OF_PROXIES: Final = ("cf-", "x-forwarded-")
# The connection is ours: its host, and that nothing is compressed.
OF_CONNECTION: Final = frozenset({"accept-encoding", "expect", "host"})
# What a provider says of itself, and would hold for this service's address.
OF_PROVIDER: Final = frozenset({"alt-svc", "set-cookie", "strict-transport-security"})
# What a proxy in front of this service would obey, such as to answer by a file of its.
TO_PROXIES: Final = frozenset(
    {
        "x-accel-buffering",
        "x-accel-charset",
        "x-accel-expires",
        "x-accel-limit-rate",
        "x-accel-redirect",
        "x-lighttpd-send-file",
        "x-reproxy-url",
        "x-sendfile",
    }
)

_NOT_SENT: Final = HOP_BY_HOP | CREDENTIALS | OF_PROXIES | OF_CONNECTION
_NOT_RETURNED: Final = HOP_BY_HOP | OF_PROVIDER | TO_PROXIES


def to_provider(given: "CIMultiDictProxy[str]", token: str) -> "CIMultiDict[str]":
    """Return a client's headers as they are sent on, each time that they were given.

    Those with the client's own ``token`` aren't, whatever they are called.
    """
    left_out = _NOT_SENT | _named(given.getall("Connection", ()))
    return CIMultiDict(
        # aiohttp reads bytes that are no text as surrogates.
        (name, value.encode(errors="surrogateescape").decode("latin-1"))
        for name, value in given.items()
        if not _is_left_out(name, left_out) and token not in value
    )


def _is_left_out(name: str, left_out: frozenset[str]) -> bool:
    # Some servers take both characters for the same.
    known = name.lower().replace("_", "-")
    return known in left_out or known.startswith(ALSO_OF_PROXIES)


def to_client(given: Iterable[tuple[bytes, bytes]]) -> "CIMultiDict[str]":
    """Return a provider's headers as the client gets them."""
    headers = CIMultiDict(
        (name.decode("latin-1"), _text(value)) for name, value in given
    )
    left_out = _NOT_RETURNED | _named(headers.getall("Connection", ()))
    return CIMultiDict(
        (name, value) for name, value in headers.items() if name.lower() not in left_out
    )


def _text(value: bytes) -> str:
    """Return a value that aiohttp sends, in UTF-8, as the bytes that came.

    Bytes that are no UTF-8 can't be sent: they are taken for Latin-1.
    """
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _named(values: Iterable[str]) -> set[str]:
    """Return the headers that those of ``Connection`` declare to be of one hop."""
    return {name.strip().lower() for value in values for name in value.split(",")}
