"""Ids of sessions and turns, which clients choose."""

from typing import Annotated

from pydantic import AfterValidator, Field

from service.http.validation_errors import explained

ID_CHARACTERS_MAX = 128
# No control characters; no spaces at the ends, because trace stores strip them.
ID_PATTERN = explained(
    r"^[^\x00-\x20\x7f-\xa0]([^\x00-\x1f\x7f-\x9f]{0,126}[^\x00-\x20\x7f-\xa0])?$",
    "must have printable characters only, without spaces around them",
)
# Each would match another path.
RESERVED = frozenset({"list", ".", ".."})

ClientId = Annotated[
    str, Field(min_length=1, max_length=ID_CHARACTERS_MAX, pattern=ID_PATTERN)
]


def _not_reserved(text: str) -> str:
    if text in RESERVED:
        raise ValueError("this id is reserved")
    return text


SessionId = Annotated[ClientId, AfterValidator(_not_reserved)]
