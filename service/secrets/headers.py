"""The headers in which a secret's value may be sent to a server."""

from typing import Annotated, Final

from pydantic import Field

from service.http.validation_errors import explained

HEADER_PATTERN: Final = explained(
    r"^(Authorization|[Xx]-[A-Za-z0-9-]{1,62}|[A-Za-z0-9]{1,32}-?([Kk]ey|[Tt]oken))$",
    "must be Authorization, begin with X-, or end in Key or Token",
)
SCHEME_PATTERN: Final = explained(
    r"^[A-Za-z0-9-]{1,32}$", "must have 1 to 32 characters of A-Z a-z 0-9 -"
)

SecretHeader = Annotated[str, Field(pattern=HEADER_PATTERN)]
SecretScheme = Annotated[
    str | None,
    Field(
        pattern=SCHEME_PATTERN,
        description="Precedes the value, with a space; null for none.",
    ),
]
