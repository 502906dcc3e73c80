"""The default of parameters that differ from None: the field isn't sent at all."""

from enum import Enum
from typing import Final


class NotGiven(Enum):
    """The type of ``NOT_GIVEN``."""

    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    def __bool__(self) -> bool:
        return False


NOT_GIVEN: Final = NotGiven.NOT_GIVEN
