"""What the walks over all operations need to know of those of one folder."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.support.operations.asks import Worst
from tests.support.operations.walk import Walk

CALLERS: Final = ("stranger", "auditor", "runtime", "manager", "reader")

Calls = Callable[[Walk], Awaitable[None]]


async def no_calls(_walk: Walk) -> None:
    """Leave the walk as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedOperations:
    """How the walks call the operations of a folder.

    ``make`` calls each that makes, changes or reads, with every field of a body, not
    its default; it puts the ids of what it makes into ``Walk.ids``, and finds there
    those of the folders in ``after``. ``end`` calls what takes away, in the opposite
    order of folders. What isn't described, or answers no JSON, is called by neither.

    ``access`` is the folder's part of the authorization matrix: a line for each
    operation with its status for each of ``CALLERS``, who ask with what ``make`` has
    sent for what it has made. ``not_asked`` are those without a line, and why.

    ``worst`` yields the worst inputs of an operation. Of those in ``simple`` the
    example, with the worst that any operation is asked, is the worst: what they read
    and write has a size of its own, whatever the request says.
    """

    after: Sequence[str] = ()
    make: Calls = no_calls
    end: Calls = no_calls
    access: str = ""
    not_asked: Mapping[str, str] = field(default_factory=dict)
    worst: Mapping[str, Worst] = field(default_factory=dict)
    simple: frozenset[str] = frozenset()

    @property
    def matrix(self) -> dict[str, dict[str, int]]:
        """Return the status of each operation, by caller.

        :raises ValueError: an operation has several lines, or not a status for each
        """
        if not self.access:
            return {}
        head, *lines = (line.split() for line in self.access.strip().splitlines())
        if tuple(head) != CALLERS:
            raise ValueError(f"the head of a matrix is {' '.join(CALLERS)}")
        found: dict[str, dict[str, int]] = {}
        for name, *words in lines:
            statuses = [int(each) for each in words if each.isdecimal()]
            if name in found or not len(statuses) == len(words) == len(CALLERS):
                raise ValueError(
                    f"{name} needs one line in ACCESS, with a status for each of "
                    f"{', '.join(CALLERS)}"
                )
            found[name] = dict(zip(CALLERS, statuses, strict=True))
        return found
