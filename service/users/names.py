"""The form of users' names."""

from typing import Final

NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9._-]{0,63}$"
