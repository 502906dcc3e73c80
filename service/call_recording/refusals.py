"""Refused calls of the same kind, which are recorded together."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar
from uuid import UUID, uuid4

FOLDED_FOR_S: Final = 1.0
REFUSALS_MAX: Final = 10_000
# Turns of one agent within a second: a flood that names other turns is still folded.
REFUSED_TURNS_MAX: Final = 20
# Names of one agent within a second, likewise.
REFUSED_NAMES_MAX: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedCalls:
    """The key of refused calls that are recorded together.

    ``asked_for`` is a name that the agent gave, which may be anything.
    """

    agent_id: UUID
    asked_for: str | None = None
    session_id: str | None = None
    trace_id: str | None = None

    @property
    def names_a_turn(self) -> bool:
        return self.session_id is not None or self.trace_id is not None


R = TypeVar("R", bound=RefusedCalls)


@dataclass(slots=True, kw_only=True)
class DueRefusals(Generic[R]):
    """Refused calls that are to be recorded, by an event of this id.

    ``is_doubtful`` if they may be on record: an attempt had an unknown outcome.
    """

    calls: R
    times: int
    id: UUID = field(default_factory=uuid4)
    is_doubtful: bool = False


@dataclass(slots=True)
class _Folded:
    since: float | None = None
    times: int = 0


class FoldedRefusals(Generic[R]):
    """How often calls were refused since they were last recorded; bounded."""

    def __init__(self) -> None:
        self._refused: dict[R, _Folded] = {}
        # By agent: how many of these name a turn.
        self._of_turns: Counter[UUID] = Counter()
        # By agent: how many have a name that was asked for.
        self._of_names: Counter[UUID] = Counter()

    def add(self, calls: R) -> bool:
        """Count a refusal; return whether there was room for it."""
        folded = self._refused.get(calls)
        if folded is None:
            calls = self._within_bounds(calls)
            folded = self._refused.get(calls)
        if folded is None:
            if len(self._refused) >= REFUSALS_MAX:
                return False
            folded = self._refused[calls] = _Folded()
            self._of_turns[calls.agent_id] += calls.names_a_turn
            self._of_names[calls.agent_id] += calls.asked_for is not None
        folded.times += 1
        return True

    def due(self, now: float, *, all_of_them: bool) -> Iterator[DueRefusals[R]]:
        """Yield what is to be recorded: the first at once, then a second later."""
        for calls, folded in list(self._refused.items()):
            is_over = folded.since is None or now - folded.since >= FOLDED_FOR_S
            if not (is_over or all_of_them):
                continue
            if folded.times:
                yield DueRefusals(calls=calls, times=folded.times)
                folded.times, folded.since = 0, now
            else:
                self._forget(calls)

    def _within_bounds(self, calls: R) -> R:
        """Return refused calls without what too many others of the agent name."""
        if calls.names_a_turn and self._of_turns[calls.agent_id] >= REFUSED_TURNS_MAX:
            calls = replace(calls, session_id=None, trace_id=None)
        is_new = calls.asked_for is not None and calls not in self._refused
        if is_new and self._of_names[calls.agent_id] >= REFUSED_NAMES_MAX:
            calls = replace(calls, asked_for=None)
        return calls

    def _forget(self, calls: R) -> None:
        del self._refused[calls]
        for counter, is_counted in (
            (self._of_turns, calls.names_a_turn),
            (self._of_names, calls.asked_for is not None),
        ):
            counter[calls.agent_id] -= is_counted
            if not counter[calls.agent_id]:
                del counter[calls.agent_id]
