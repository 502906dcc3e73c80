"""The URL of a connector, which must not hold credentials."""

import re
from typing import Annotated, Final
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, Field

URL_CHARACTERS_MAX: Final = 2048
# The characters of RFC 3986; others are to be percent-encoded, or written in punycode.
URL_PATTERN: Final = (
    r"^https?://[A-Za-z0-9._~%!$&'()*+,;=:@\[\]-]+"
    r"([/?#][A-Za-z0-9._~%!$&'()*+,;=:@/?#-]*)?$"
)
NOT_A_URL: Final = (
    "must be an http or https URL with a host, in ASCII and without spaces, such as "
    "https://tracker.example/mcp"
)
HOLDS_CREDENTIALS: Final = (
    "must not hold credentials, neither before the host nor as a parameter: everybody "
    "who sees the connector sees its URL, and the log keeps it; leave them out, and "
    "keep them as a secret (POST /api/secrets)"
)


def origin_of(url: str) -> str:
    """Return a URL's scheme and host, with its port if it names one."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _without_credentials(url: str) -> str:
    if not _URL.fullmatch(url):
        raise ValueError(NOT_A_URL)
    try:
        parts = urlsplit(url)
        # Reading a port that is no number, or too large, raises an error, too.
        is_reachable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError(NOT_A_URL) from None
    if not is_reachable:
        raise ValueError(NOT_A_URL)
    if "@" in parts.netloc or holds_credentials(url):
        raise ValueError(HOLDS_CREDENTIALS)
    return url


def holds_credentials(url: str) -> bool:
    """Whether a parameter of a URL is a credential, or named like one."""
    parts = urlsplit(url)
    # A fragment is no part of a request, but is kept and shown like the rest.
    parameters = [
        *parse_qsl(parts.query.replace(";", "&"), keep_blank_values=True),
        *parse_qsl(parts.fragment.replace(";", "&"), keep_blank_values=True),
    ]
    return any(
        _names_credential(name) or _is_credential(name) or _is_credential(value)
        for name, value in parameters
    )


def _names_credential(name: str) -> bool:
    # apiKey, api-key and X_API_KEY are one name.
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return (
        _CREDENTIAL_NAME.search(re.sub(r"[^a-z0-9]+", " ", words.lower())) is not None
    )


def _is_credential(value: str) -> bool:
    return _CREDENTIAL_VALUE.match(value) is not None


ConnectorUrl = Annotated[
    str,
    Field(
        max_length=URL_CHARACTERS_MAX,
        json_schema_extra={"format": "uri", "pattern": URL_PATTERN},
        description="An http or https URL without credentials.",
    ),
    AfterValidator(_without_credentials),
]

_URL = re.compile(URL_PATTERN)
_CREDENTIAL_NAME = re.compile(
    r"token|secret|passw|credential|signature|bearer|"
    r"\b(?:pass|pwd|auth|authorization|jwt|sig|key|pat|api ?key|access ?key|"
    r"[a-z]*apikey|accesskey|session|session ?id|sid)\b"
)
# Tokens of this service, and of others that mark theirs.
_CREDENTIAL_VALUE = re.compile(
    r"art_|agt_|gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|eyJ[A-Za-z0-9_-]+\.|"
    r"(?i:bearer |basic )"
)
