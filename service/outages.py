"""Say in the log what fails, once for each cause, and when it works again."""

import logging
import time
from collections.abc import Callable, Hashable
from typing import Final, TypeAlias

from service.database import message_of
from service.errors import ServiceError

# What fails and works by turns for no longer than this is one outage.
CALM_S: Final = 60.0
# A cause that was told so long ago, and not seen since, may have been forgotten.
FORGOTTEN_S: Final = 3600.0

Cause: TypeAlias = Hashable | type[Exception]


class Outage:
    """What the log has said of one thing that may fail.

    A cause is told once in an outage, and again after others alone were seen for
    ``CALM_S``, or nothing for ``FORGOTTEN_S``. Causes are few, see
    :func:`cause_of`: those of the last minute are kept, and the one that lasts.
    """

    __slots__ = ("_clock", "_has_worked", "_seen_at")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # The causes of this outage, and when each was last seen.
        self._seen_at: dict[Cause, float] = {}
        self._has_worked = False

    def level(self, cause: Cause, new: int = logging.WARNING) -> int:
        """Note a failure, and return the level of its line: ``new``, or debug."""
        now = self._clock()
        self._seen_at = {
            each: at
            for each, at in self._seen_at.items()
            if now - at < CALM_S
            or (each == cause and not self._has_worked and now - at < FORGOTTEN_S)
        }
        level = logging.DEBUG if cause in self._seen_at else new
        self._seen_at[cause] = now
        self._has_worked = False
        return level

    def has_ended(self) -> bool:
        """Note a success, and return whether it ends an outage.

        It does when nothing has failed for ``CALM_S``.
        """
        if not self._seen_at:
            return False
        self._has_worked = True
        if self._clock() - max(self._seen_at.values()) < CALM_S:
            return False
        self._seen_at.clear()
        return True


def cause_of(error: Exception) -> Cause:
    """Tell failures apart by more than their type.

    Nearly all that keeps a connection to the database from working has one type.
    What an error of the API says may name things, so its code counts.
    """
    if isinstance(error, ServiceError):
        return error.code
    return type(error), message_of(error)
