"""The model calls of a turn as its event holds them, to price them again later."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Final, NotRequired

from typing_extensions import TypedDict

from service.price_catalog.usage import ModelCallUsage
from service.sessions.turn import (
    ModelShare,
    PricedModelCall,
    RecordedShare,
    Texts,
    TokenCounts,
    Turn,
)

OWN_COUNTS: Final = frozenset(each.name for each in fields(ModelCallUsage)) - {
    "others",
    "conditions",
    "untold",
}


class RecordedModelCall(TypedDict):
    """A model call: ``share`` is the index of the turn's model that it belongs to.

    ``counts`` are those of ``ModelCallUsage`` as text; a missing one wasn't reported.
    ``untold`` is missing in model calls that an earlier version recorded.
    """

    share: int
    asked_model: str | None
    started_at: str
    counts: dict[str, str]
    conditions: dict[str, str]
    untold: NotRequired[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """A turn as recorded: what it used, and how it is priced.

    ``calls`` is None for a turn that was reported as such, and for one from spans
    that an earlier version recorded.
    """

    turn_id: str
    started_at: datetime
    ended_at: datetime
    is_error: bool
    spans: int | None
    used: RecordedShare
    shares: list[RecordedShare] | None
    calls: list[RecordedModelCall] | None

    @property
    def is_repriceable(self) -> bool:
        return self.spans is None or self.calls is not None

    @property
    def models(self) -> list[RecordedShare]:
        """What each model used."""
        return self.shares or [self.used]

    def turn(self) -> Turn:
        """Return the turn as it was reported, without its texts."""
        return Turn(
            turn_id=self.turn_id,
            started_at=self.started_at,
            ended_at=self.ended_at,
            provider=self.used["provider"],
            model=self.used["model"],
            tokens=token_counts(self.used),
            is_error=self.is_error,
            texts=Texts(),
            shares=shares_of(self.calls, self.models) if self.calls else (),
            spans=self.spans,
        )


def recorded_calls(shares: Iterable[ModelShare]) -> list[RecordedModelCall]:
    """Return the model calls of all shares, in their order."""
    return [
        {
            "share": index,
            "asked_model": call.asked_model,
            "started_at": call.started_at.isoformat(),
            "counts": _counts(call.usage),
            "conditions": dict(call.usage.conditions),
            "untold": list(call.usage.untold),
        }
        for index, share in enumerate(shares)
        for call in share.calls
    ]


def shares_of(
    calls: Sequence[RecordedModelCall], used: Sequence[RecordedShare]
) -> tuple[ModelShare, ...]:
    """Return the shares of a turn with the model calls that they are priced by."""
    of_share: defaultdict[int, list[RecordedModelCall]] = defaultdict(list)
    for call in calls:
        of_share[call["share"]].append(call)
    shares = []
    for index, share in enumerate(used):
        own = of_share[index]
        shares.append(
            ModelShare(
                provider=share["provider"],
                model=share["model"],
                tokens=token_counts(share),
                calls=tuple(_call(call) for call in own),
                reported_cost=(
                    Decimal(share["reported_cost"])
                    if share["reported_cost"] is not None
                    else None
                ),
            )
        )
    return tuple(shares)


def token_counts(used: RecordedShare) -> TokenCounts:
    return TokenCounts(
        prompt=used["prompt_tokens"],
        completion=used["completion_tokens"],
        cache_read=used["cache_read_tokens"],
        cache_creation=used["cache_creation_tokens"],
    )


def _counts(usage: ModelCallUsage) -> dict[str, str]:
    own = {name: getattr(usage, name) for name in sorted(OWN_COUNTS)}
    return {
        name: str(count)
        for name, count in {**usage.others, **own}.items()
        if count is not None
    }


def _call(call: RecordedModelCall) -> PricedModelCall:
    counts = call["counts"]
    usage = ModelCallUsage(
        **{name: int(count) for name, count in counts.items() if name in OWN_COUNTS},
        others={
            name: Decimal(count)
            for name, count in counts.items()
            if name not in OWN_COUNTS
        },
        conditions=call["conditions"],
        untold=tuple(call.get("untold", ())),
    )
    started_at = datetime.fromisoformat(call["started_at"])
    return PricedModelCall(started_at, usage, call["asked_model"])
