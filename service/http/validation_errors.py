"""Validation errors as problems of the API, which never quote a value."""

from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from service.errors import Problem

PROBLEMS_MAX = 100
# Names of unknown fields come from the caller.
NAME_CHARACTERS_MAX = 100

# pydantic's messages of these types quote the value.
MESSAGES: Final = {
    "uuid_parsing": "Input should be a valid UUID",
    "union_tag_invalid": "Input has an unknown tag",
}


def problems_of(error: ValidationError) -> list[Problem]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        Problem(
            path_of(each["loc"]),
            MESSAGES.get(each["type"], each["msg"].removeprefix("Value error, ")),
        )
        for each in found[:PROBLEMS_MAX]
    ]


def path_of(location: Sequence[str | int]) -> str:
    """Return a location as text, such as ``rules[3].stance``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{shown_name(part)}" if path else shown_name(part)
    return path


def shown_name(name: str) -> str:
    """Shorten a name that came from the caller."""
    if len(name) <= NAME_CHARACTERS_MAX:
        return name
    return name[:NAME_CHARACTERS_MAX] + "..."
