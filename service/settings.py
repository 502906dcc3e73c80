"""What a setting is: a field of a group, an option and a variable."""

from typing import ClassVar, Final

from pydantic import BaseModel

ENVIRONMENT_PREFIX: Final = "AGENT_RUNTIME_"


class SettingGroup(BaseModel):
    """The settings of one part of the service.

    The help shows them below ``TITLE``.
    """

    TITLE: ClassVar[str]


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return ENVIRONMENT_PREFIX + name.upper()
