"""Where a redirect points to, as far as the connector's owner may be shown it."""

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from service.gateway.upstream.credential_echo import CredentialEcho

STATUSES: Final = frozenset({301, 302, 303, 307, 308})
# Nothing in these is escaped, can't be seen, or is text of a length to be read.
_HOST: Final = re.compile(r"[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]")
# Parts of a path that are longer than an id may be secrets, such as those of sign-ins;
# dots could split one.
_PART: Final = r"/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~@-]{0,36}"
_PATH: Final = re.compile(rf"(?=.{{0,100}}$)(?:{_PART})*", re.ASCII)


async def target_of(location: str | None, url: str, echo: CredentialEcho | None) -> str:
    """Return scheme, host, port and path of what a header ``Location`` names.

    Without the path where that can't be shown; empty where nothing can be, or where it
    has the credential of the request in it. ``url`` is what was requested.
    """
    shown = _shown(location or "", url)
    # It may only be there once dots and tabs are taken out.
    if echo is not None and await echo.remove_from([location, shown]):
        return ""
    return shown


def _shown(location: str, url: str) -> str:
    try:
        parts = urlsplit(urljoin(url, location))
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    host = f"[{host}]" if ":" in host else host
    if not location or parts.scheme not in ("http", "https"):
        return ""
    if not _HOST.fullmatch(host):
        return ""
    origin = f"{parts.scheme}://{host}:{port}" if port else f"{parts.scheme}://{host}"
    return origin + parts.path if _PATH.fullmatch(parts.path) else origin
