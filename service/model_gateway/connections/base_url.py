"""The base URL of a connection."""

import re
from typing import Annotated, Final
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, Field

from service.connectors.url import URL_CHARACTERS_MAX, URL_PATTERN, holds_credentials
from service.model_gateway.dialects import PATHS
from service.networks import parsed_address

NOT_A_URL: Final = (
    "must be an http or https URL in ASCII, with the host in lower case, such as "
    "https://api.anthropic.com/v1"
)
HOLDS_CREDENTIALS: Final = (
    "must hold no credentials, neither before the host nor as a parameter: the log "
    "keeps it; keep them as a secret (POST /api/secrets), and name it in credential"
)
HAS_DOTS: Final = "must have no . or .. as a part of its path"
HAS_FRAGMENT: Final = "must have no fragment: it is no part of a request"


def _checked(url: str) -> str:
    """Return the URL without a slash at the end of its path."""
    if not _URL.fullmatch(url):
        raise ValueError(NOT_A_URL)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(NOT_A_URL) from None
    if "@" in parts.netloc or holds_credentials(url):
        raise ValueError(HOLDS_CREDENTIALS)
    is_host = _HOST.fullmatch(host) or parsed_address(host) is not None
    if not is_host or port == 0 or parts.netloc.endswith(":"):
        raise ValueError(NOT_A_URL)
    if "#" in url:
        raise ValueError(HAS_FRAGMENT)
    if not {".", ".."}.isdisjoint(parts.path.split("/")):
        raise ValueError(HAS_DOTS)
    path = parts.path.rstrip("/")
    for added in PATHS.values():
        if path.endswith(added):
            raise ValueError(f"must not end in {added}, which is added to it")
    return urlunsplit(parts._replace(path=path))


_URL = re.compile(URL_PATTERN)
_HOST = re.compile(
    r"(?=.{1,253}$)[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?"
    r"(\.[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)*"
)

BaseUrl = Annotated[
    str,
    Field(
        max_length=URL_CHARACTERS_MAX,
        json_schema_extra={"format": "uri", "pattern": URL_PATTERN},
        description=(
            "An http or https URL without credentials, to whose path that of the "
            "dialect is added: `/chat/completions`, `/responses`, `/embeddings` or "
            "`/messages`. Of most providers it ends in `/v1`. A query stays at the end."
        ),
    ),
    AfterValidator(_checked),
]
