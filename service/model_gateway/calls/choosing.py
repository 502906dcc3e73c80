"""In which order the targets of a preset are tried for a call."""

import math
import random
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from cachetools import TLRUCache

from service.model_gateway.calls.call_record import ChosenBy
from service.model_gateway.routing.plan import Plan, PlannedTarget, TargetKey

SESSIONS_MAX: Final = 20_000
# Of a session, or of a response, which a provider names.
NAME_CHARACTERS_MAX: Final = 256

# A preset, and a session or a response that others go on from.
StayKey = tuple[int, str]


class Stays:
    """With which target of a preset a session stays, in this process's memory."""

    def __init__(self) -> None:
        self._targets: TLRUCache[StayKey, tuple[TargetKey, int]] = TLRUCache(
            SESSIONS_MAX, ttu=lambda _key, kept, now: now + kept[1]
        )

    def target(self, plan: Plan, *named: str | None) -> TargetKey | None:
        """Return the target of the first of some sessions that stays with one."""
        for each in named:
            kept = self._targets.get((plan.preset.id.int, each)) if each else None
            if kept is not None:
                return kept[0]
        return None

    def keep(self, plan: Plan, target: PlannedTarget, *named: str | None) -> None:
        """Have sessions stay with a target for as long as the preset says."""
        sticky_s = plan.preset.terms["sticky_s"]
        for each in named:
            if each and len(each) <= NAME_CHARACTERS_MAX and sticky_s:
                self._targets[plan.preset.id.int, each] = target.key, sticky_s


def in_order(
    plan: Plan,
    *,
    session: str | None,
    stays_with: TargetKey | None,
    continues_with: TargetKey | None,
    input_tokens: int | None,
) -> list[PlannedTarget]:
    """Return the targets that a call may be sent to, the first choice first.

    A call that continues a response goes to the target that alone knows it, and to no
    other one. Otherwise: groups in order. In a group the target that the session stays
    with, then others by weight: for a session always the same, so that it stays where
    it is in any process, and most do when weights change. Targets whose window is too
    small are left out, unless it is too small everywhere: then the largest one refuses
    the prompt in words that clients know.
    """
    known = [each for each in plan.targets if each.key == continues_with]
    if known:
        return known
    groups = [
        [each for each in group if not each.problem and _fits(each, input_tokens)]
        for group in plan.groups
    ]
    if not any(groups):
        return [max(plan.targets, key=lambda each: each.target["context_window"] or 0)]
    salt = session if plan.preset.terms["sticky_s"] else None
    return [
        each
        for group in groups
        for each in sorted(group, key=lambda each: _rank(each, salt, stays_with))
    ]


def chosen_by(
    first: PlannedTarget,
    stays_with: TargetKey | None,
    continues_with: TargetKey | None,
    input_tokens: int | None,
) -> ChosenBy:
    """Say why a target is the first choice."""
    if first.key == continues_with:
        return ChosenBy.RESPONSE
    if not _fits(first, input_tokens):
        return ChosenBy.WINDOW
    return ChosenBy.SESSION if first.key == stays_with else ChosenBy.WEIGHT


def _fits(target: PlannedTarget, input_tokens: int | None) -> bool:
    return input_tokens is None or target.fits(input_tokens) is not False


def _rank(
    target: PlannedTarget, session: str | None, stays_with: TargetKey | None
) -> tuple[bool, float]:
    """Rank a target so that each is first as often as its weight says.

    Weighted rendezvous hashing: of exponential variables with the weights as rates,
    each is the smallest with the probability of its weight.
    """
    drawn = random.random() if session is None else _hashed(session, target.key)  # noqa: S311 # no secret
    weight = target.target["weight"]
    return target.key != stays_with, -math.log(1.0 - drawn) / weight


def _hashed(session: str, key: Sequence[str]) -> float:
    digest = sha256("\0".join([session, *key]).encode(errors="replace")).digest()
    return int.from_bytes(digest[:6]) / 2**48
