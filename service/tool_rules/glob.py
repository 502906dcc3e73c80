"""Tool patterns: globs over whole tool names, with only ``*`` and ``?``."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

ANY_RUN: Final = "*"
ANY_ONE: Final = "?"
GLOBS_KEPT_MAX = 1024
MATCHES_KEPT_MAX = 10_000
WORK_OF_BUILDING_A_PLACE: Final = 1000


class TooMuchWorkError(Exception):
    """Matching would take more than the remaining work."""


@dataclass(slots=True)
class Work:
    """The remaining work for one answer, in automaton states visited."""

    left: int

    def take(self, work: int) -> None:
        """Use some of it up.

        :raises TooMuchWorkError: less remains
        """
        self.left -= work
        if self.left < 0:
            raise TooMuchWorkError


class Globs:
    """Several globs as one bit-parallel automaton: a bit for each state of each glob.

    A place lies before, between or after the characters that a glob asks for. All
    places that a name's beginning can lead to are kept in one integer, so that a
    name costs a few operations for each of its characters, whatever the globs:
    nothing is ever tried twice. Each operation costs in proportion to the places.

    Building, matching and covering take from ``work``, if it is given, and raise
    ``TooMuchWorkError`` where less remains.
    """

    def __init__(self, patterns: Sequence[str], work: Work | None = None) -> None:
        self._work = work
        if work is not None:
            work.take(WORK_OF_BUILDING_A_PLACE * sum(map(len, patterns)))
        fits: defaultdict[str, list[int]] = defaultdict(list)
        starts: list[int] = []
        ends: list[int] = []
        loops: list[int] = []
        absorbs: list[int] = []
        place = 0
        for pattern in patterns:
            starts.append(place)
            run_start, starred = place, False
            for token in pattern:
                if token == ANY_RUN:
                    starred = True
                    continue
                if token != ANY_ONE:
                    _end_run(run_start, place, loops, absorbs, starred=starred)
                    run_start, starred = place + 1, False
                fits[token].append(place)
                place += 1
            _end_run(run_start, place, loops, absorbs, starred=starred)
            ends.append(place)
            place += 1
        self._places = place
        self._number = {end: number for number, end in enumerate(ends)}
        self._starts = _bits(starts, place)
        self._ends = _bits(ends, place)
        self._loops = _bits(loops, place)
        self._absorbs = _bits(absorbs, place)
        self._fits_any = _bits(fits.pop(ANY_ONE, ()), place)
        self._fits = {
            token: _bits(each, place) | self._fits_any for token, each in fits.items()
        }

    def matching(self, name: str) -> Iterator[int]:
        """Yield the numbers of the globs that match all of a name, ascending."""
        states, steps = self._starts, 0
        for steps, character in enumerate(name, 1):  # noqa: B007
            states = self._step(states, self._fits.get(character, self._fits_any))
            if not states:
                break
        self._take(steps)
        yield from self._reached(states)

    def covering(self, pattern: str) -> Iterator[int]:
        """Yield the numbers of the globs that match every name that a glob matches.

        The glob is read like a name in which ``?`` is a character that no glob asks
        for, and ``*`` a run of such characters of any length. There are such, for a
        name may have any character and a glob only some. So a run can only be taken
        in where there is a ``*`` among wildcards, and there it always can.
        """
        states, steps = self._starts, 0
        for steps, token in enumerate(pattern, 1):  # noqa: B007
            if token == ANY_RUN:
                states &= self._absorbs
            elif token == ANY_ONE:
                states = self._step(states, self._fits_any)
            else:
                states = self._step(states, self._fits.get(token, self._fits_any))
            if not states:
                break
        self._take(steps)
        yield from self._reached(states)

    def _take(self, steps: int) -> None:
        if self._work is not None:
            self._work.take(steps * self._places)

    def _step(self, states: int, fitting: int) -> int:
        return ((states & fitting) << 1) | (states & self._loops)

    def _reached(self, states: int) -> Iterator[int]:
        states &= self._ends
        while states:
            lowest = states & -states
            yield self._number[lowest.bit_length() - 1]
            states ^= lowest


@lru_cache(maxsize=GLOBS_KEPT_MAX)
def _glob(pattern: str) -> Globs:
    return Globs([pattern])


def has_wildcard(pattern: str) -> bool:
    return ANY_RUN in pattern or ANY_ONE in pattern


@lru_cache(maxsize=MATCHES_KEPT_MAX)
def matches(pattern: str, name: str) -> bool:
    """Whether a glob matches a whole name; case-sensitive.

    Remembered: an explanation asks for each event of an agent's rules anew.
    """
    return any(True for _ in _glob(pattern).matching(name))


def covers(pattern: str, other: str) -> bool:
    """Say whether a glob matches every name that another one matches."""
    return any(True for _ in _glob(pattern).covering(other))


def _end_run(
    start: int, end: int, loops: list[int], absorbs: list[int], *, starred: bool
) -> None:
    """Normalise a run of wildcards: ``*`` goes to its end."""
    if starred:
        loops.append(end)
        absorbs.extend(range(start, end + 1))


def _bits(places: Iterable[int], size: int) -> int:
    # Setting bits of a large integer one by one would copy it each time.
    octets = bytearray((size + 7) // 8)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")
