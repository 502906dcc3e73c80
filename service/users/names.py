"""The form of users' names."""

from typing import Final

from service.http.validation_errors import explained

NAME_PATTERN: Final = explained(
    r"^[a-z0-9][a-z0-9._-]{0,63}$",
    "must have 1 to 64 characters of a-z 0-9 . _ -, and begin with a letter or digit",
)
