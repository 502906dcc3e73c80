"""A turn of a session, as reported and as recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Final

from typing_extensions import TypedDict

from service.errors import Problem
from service.events import DecimalText
from service.price_catalog.charge import EXACT, Charge
from service.price_catalog.usage import ModelCallUsage
from service.sessions.clocks import ahead_of_clock

TEXT_BYTES_MAX = 64 * 1024
ERROR_BYTES_MAX = 4 * 1024
TOKENS_MAX = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of one turn; None if not reported.

    ``prompt`` includes the tokens read from and written to a cache, as in the
    OpenTelemetry conventions.
    """

    prompt: int | None = None
    completion: int | None = None
    cache_read: int | None = None
    cache_creation: int | None = None


def added(counts: Sequence[TokenCounts]) -> TokenCounts:
    """Return the sum of counts; the input or output is unknown if a part of it is.

    Caches that weren't reported add nothing.
    """

    def total(name: str, *, is_strict: bool) -> int | None:
        all_counts = [getattr(count, name) for count in counts]
        known = [count for count in all_counts if count is not None]
        is_known = known and (not is_strict or len(known) == len(all_counts))
        return sum(known) if is_known else None

    return TokenCounts(
        prompt=total("prompt", is_strict=True),
        completion=total("completion", is_strict=True),
        cache_read=total("cache_read", is_strict=False),
        cache_creation=total("cache_creation", is_strict=False),
    )


def total_reported(amounts: Sequence[str | Decimal | None]) -> Decimal | None:
    """Return the sum of reported costs, or None if a model call reports none."""
    total = Decimal(0)
    for amount in amounts:
        if amount is None:
            return None
        total = EXACT.add(total, Decimal(amount))
    return total if amounts else None


@dataclass(frozen=True, slots=True)
class PricedModelCall:
    """A model call as it is priced: its start, and what it used.

    ``asked_model`` is the requested model, if the answer names another one.
    """

    started_at: datetime
    usage: ModelCallUsage
    asked_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShare:
    """The part of a turn that one model processed.

    ``tokens`` sums up ``calls``, each of which has a price of its own.
    ``reported_cost`` is what the provider or the instrumentation reports, in US
    dollars.
    """

    provider: str | None
    model: str | None
    tokens: TokenCounts
    calls: tuple[PricedModelCall, ...] = ()
    reported_cost: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One exchange: input, output, times, tokens and outcome.

    ``turn_id`` is unique in its session; a turn is one trace. The texts are personal
    data: no repr shows them.

    ``spans`` is None for a turn that was reported as such, else the number of spans
    that it was made from; a turn from more spans is more complete. ``shares`` then
    holds each model's part, and ``model`` is the one with the most tokens.
    ``kept_since`` is the end of the log when the first of these spans came; a turn
    that was recorded before has spans that were deleted.
    """

    turn_id: str
    trace_id: str | None = None
    started_at: datetime
    ended_at: datetime
    provider: str | None = None
    model: str | None = None
    tokens: TokenCounts = TokenCounts()
    is_error: bool = False
    texts: "Texts"
    shares: "tuple[ModelShare, ...]" = ()
    spans: int | None = None
    kept_since: int | None = None

    @property
    def reported_cost(self) -> Decimal | None:
        """The cost of all model calls that is reported, in US dollars."""
        return total_reported([share.reported_cost for share in self.shares])

    @property
    def latency_us(self) -> int:
        took = self.ended_at - self.started_at
        return (took.days * 86_400 + took.seconds) * 1_000_000 + took.microseconds


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Texts:
    """The texts of a turn; None if there were none."""

    input: str | None = None
    output: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedTexts:
    """Texts encrypted with the key of the session's user, in base64url."""

    input: str | None = None
    output: str | None = None
    error: str | None = None
    input_truncated: bool = False
    output_truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedShare:
    """One model's part of a turn and its cost, or the reason for none."""

    share: ModelShare
    charge: Charge


class RecordedShare(TypedDict):
    """What one model used in a turn, and its cost."""

    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: DecimalText | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    contract_id: str | None
    list_cost: DecimalText | None
    list_currency: str | None
    reported_cost: DecimalText | None
    estimated: list[str]


class RecordedCharge(TypedDict):
    """How a turn, or what one model used in it, was priced."""

    cost: DecimalText | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    contract_id: str | None
    list_cost: DecimalText | None
    list_currency: str | None
    estimated: list[str]


CHARGE: Final = tuple(RecordedCharge.__annotations__)


def charge_in(used: RecordedShare) -> RecordedCharge:
    return {name: used[name] for name in CHARGE}  # type: ignore[literal-required, return-value]


def recorded_share(used: Turn | ModelShare, charge: Charge) -> RecordedShare:
    """Return what a turn or a model's share of it used, with its cost."""
    return {
        "provider": used.provider,
        "model": used.model,
        "prompt_tokens": used.tokens.prompt,
        "completion_tokens": used.tokens.completion,
        "cache_read_tokens": used.tokens.cache_read,
        "cache_creation_tokens": used.tokens.cache_creation,
        "cost": _decimal_text(charge.amount),
        "currency": charge.currency,
        "price_id": charge.price_id,
        "priced_as": charge.priced_as,
        "pricing_rule": charge.rule,
        "unpriced": charge.unpriced and charge.unpriced.value,
        "contract_id": charge.contract_id,
        "list_cost": _decimal_text(charge.list_amount),
        "list_currency": charge.list_currency,
        "reported_cost": _decimal_text(used.reported_cost),
        "estimated": list(charge.estimated),
    }


def _decimal_text(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount, "f")


def problems_of(turn: Turn, *, now: datetime) -> list[Problem]:
    """Return what is invalid about a turn; paths are the names of its fields."""
    found = []
    if problem := ahead_of_clock(turn.started_at, now):
        found.append(Problem("started_at", problem))
    if turn.ended_at < turn.started_at:
        found.append(Problem("ended_at", "is before started_at"))
    elif problem := ahead_of_clock(turn.ended_at, now):
        found.append(Problem("ended_at", problem))
    cached = (turn.tokens.cache_read or 0) + (turn.tokens.cache_creation or 0)
    if turn.tokens.prompt is not None and cached > turn.tokens.prompt:
        found.append(Problem("prompt_tokens", "is less than its cached tokens"))
    # In a turn made from spans, these are sums.
    counted = [turn.tokens, *(share.tokens for share in turn.shares)]
    found += [
        Problem(f"{field.name}_tokens", f"is more than {TOKENS_MAX}")
        for field in fields(TokenCounts)
        if any((getattr(each, field.name) or 0) > TOKENS_MAX for each in counted)
    ]
    return found


def truncated(text: str, bytes_max: int) -> tuple[str, bool]:
    """Truncate a text between two characters to a number of bytes in UTF-8."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= bytes_max:
        return text, False
    # A lone surrogate at the cut is dropped with its character.
    return encoded[:bytes_max].decode("utf-8", "ignore"), True
