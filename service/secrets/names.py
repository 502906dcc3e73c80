"""The allowed names of secrets."""

import re
from typing import Annotated, Final

from pydantic import Field

from service.http.validation_errors import explained

# 1 to 128 characters of one set, but neither "." nor "..": a URL can't end in those.
NAME_PATTERN: Final = explained(
    r"^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}"
    r"|\.[A-Za-z0-9_-][A-Za-z0-9_.-]{0,126}"
    r"|\.\.[A-Za-z0-9_.-]{1,126})$",
    "must have 1 to 128 characters of A-Z a-z 0-9 _ . -, and not be . or ..",
)
SecretName = Annotated[str, Field(pattern=NAME_PATTERN)]

_NAME = re.compile(NAME_PATTERN)


def is_secret_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None
