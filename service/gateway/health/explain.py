"""Say in words why a connector's tools can't be listed, and what to do."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from service.errors import ServiceError
from service.gateway.gate import Upstream
from service.gateway.upstream.errors import Cause, RedirectedError, UpstreamError
from service.gateway.upstream.listing import PAGES_MAX

HOST_CHARACTERS_MAX: Final = 253
# Answers that a server of the older transport gives to a POST.
_OF_LEGACY_SSE: Final = frozenset(
    {
        Cause.NOT_FOUND,
        Cause.METHOD_NOT_ALLOWED,
        Cause.WEB_PAGE,
        Cause.NOT_MCP,
        Cause.HTTP_STATUS,
    }
)
_WORDS: Final[Mapping[Cause, str]] = {
    Cause.INVALID_URL: "{host} is no address that can be called; correct the URL",
    Cause.NAME_NOT_FOUND: (
        "the name {host} isn't found (DNS); check the URL, and whether the service's "
        "machine resolves that name"
    ),
    Cause.CONNECTION_REFUSED: (
        "{host} refuses the connection; check whether the server runs, and the port"
    ),
    Cause.CONNECT_TIMEOUT: (
        "there was no connection to {host} in time; check whether the server runs, "
        "and firewalls on the way"
    ),
    Cause.UNREACHABLE: "{host} can't be reached from the service's network",
    Cause.TLS_REQUIRED: (
        "{host} is a public address, which is called with TLS only; use https://"
    ),
    Cause.TLS_CERTIFICATE: "the certificate of {host} is refused{detail}; renew it",
    Cause.TLS_FAILED: (
        "{host} doesn't speak TLS at this port; check the port, or whether the server "
        "has https://"
    ),
    Cause.PRIVATE_ADDRESS: (
        "{host} isn't at a public address; an operator has to name its network in "
        "--gateway-networks"
    ),
    Cause.METADATA_ADDRESS: (
        "{host} is at an address of a cloud's metadata service, which is never called"
    ),
    Cause.TIMEOUT: "{host} did not answer in time; check its load and its log",
    Cause.CONNECTION_CLOSED: (
        "{host} closed the connection before it had answered; check its log"
    ),
    Cause.TOO_LARGE: (
        "the answer of {host} is larger than the gateway reads{detail}; an operator "
        "can raise --gateway-answer-bytes, which is of its body"
    ),
    Cause.UNAUTHORIZED: (
        "{host} wants a credential, or refuses the one that is sent (401); attach a "
        "credential to the connector, or renew the secret"
    ),
    Cause.FORBIDDEN: (
        "{host} refuses the credential, or access without one (403); check what the "
        "credential may do"
    ),
    Cause.NOT_FOUND: "{host} has no MCP server at this path (404); check the path",
    Cause.METHOD_NOT_ALLOWED: (
        "{host} takes no POST at this path (405); check the URL's path: servers of "
        "the older transport HTTP+SSE can't be used"
    ),
    Cause.HTTP_STATUS: "{host} refused the request{detail}; check its log",
    Cause.LEGACY_SSE: (
        "this looks like the address of a server of the older transport HTTP+SSE, "
        "which the gateway doesn't speak; use its address of Streamable HTTP, often "
        "/mcp, or put a bridge in front"
    ),
    Cause.REDIRECT: (
        "{host} redirects to {detail}, and redirects aren't followed; if its MCP "
        "server is there, make that the connector's URL; if people sign in there, "
        "attach a credential"
    ),
    Cause.WEB_PAGE: (
        "{host} answers with a web page (HTML), not with MCP; use the URL of its MCP "
        "server, often with the path /mcp"
    ),
    Cause.NOT_MCP: (
        "{host} answers with something that isn't MCP{detail}; check the URL's path"
    ),
    Cause.NO_REVISION: (
        "{host} speaks no revision of MCP that the gateway speaks; update the server"
    ),
    Cause.PROTOCOL_ERROR: (
        "{host} answered with an error of its own{detail}; check its log"
    ),
    Cause.CREDENTIAL: "the connector's credential can't be sent: {detail}",
    Cause.INTERNAL: (
        "the service itself failed while it observed the connector; its log says why"
    ),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """``words`` are for those who see the connector.

    Of its server, they quote nothing but where a redirect points to.
    """

    cause: Cause
    words: str


def explain(error: Exception, upstream: Upstream) -> Failure:
    """Return why an observation failed."""
    if isinstance(error, UpstreamError):
        cause, detail = error.cause, _quotable(error.detail)
        if cause in _OF_LEGACY_SSE and _has_path_of_sse(upstream.url):
            cause = Cause.LEGACY_SSE
        detail = f" ({detail})" if detail else ""
        if isinstance(error, RedirectedError):
            detail = error.target or "a URL that can't be shown"
    elif isinstance(error, ServiceError) and error.code in _OF_CREDENTIALS:
        cause, detail = Cause.CREDENTIAL, error.message
    else:
        cause, detail = Cause.INTERNAL, ""
    host = host_of(upstream.url)
    words = _WORDS[cause].format(host=host, detail=detail)
    return Failure(cause, words)


def words_of_cut_list(tools: int) -> str:
    """Return what an owner is told of a list with more pages than are read."""
    return (
        f"{tools} tools of the first {PAGES_MAX} pages were taken, and the list goes "
        "on; let the server send more tools in a page"
    )


def host_of(url: str) -> str:
    """Return host and port of a URL, without what could be secret in it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "the URL", parts.port
    except ValueError:
        return "the URL"
    host = host[:HOST_CHARACTERS_MAX]
    return f"{host}:{port}" if port else host


def _has_path_of_sse(url: str) -> bool:
    return urlsplit(url).path.rstrip("/").lower().endswith("/sse")


def _quotable(detail: str) -> str:
    return detail if _QUOTABLE.fullmatch(detail) else ""


_QUOTABLE: Final = re.compile(r"[A-Za-z0-9 ,./+'-]{1,100}")
_OF_CREDENTIALS: Final = frozenset(
    {"credential_unusable", "value_destroyed", "key_destroyed"}
)
