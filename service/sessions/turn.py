"""A turn of a session, as it is reported and as it is recorded."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from typing_extensions import TypedDict

from service.errors import Problem
from service.events import DecimalText

TEXT_BYTES_MAX = 64 * 1024
ERROR_BYTES_MAX = 4 * 1024
TOKENS_MAX = 10**12
# Clocks differ; a turn from further ahead would head every list until then.
CLOCK_AHEAD_MAX = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of one turn; None where they weren't reported.

    What was read from and written to a cache is part of ``prompt``, as the
    OpenTelemetry conventions count it.
    """

    prompt: int | None = None
    completion: int | None = None
    cache_read: int | None = None
    cache_creation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShare:
    """What one model took of a turn.

    ``asked_model`` is the model that was asked for, where another name answered.
    """

    provider: str | None
    model: str | None
    tokens: TokenCounts
    asked_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One exchange: what went in, what came out, when, and what it took.

    ``turn_id`` is unique in its session; a turn is one trace. The texts are
    people's words: they are never shown by a repr.

    ``spans`` is None for a turn that was reported as such. For one that was made
    from spans it says how many of them it rests on: more spans make a better turn.
    ``shares`` then say which model took what, and ``model`` is the one that took
    most.
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

    @property
    def latency_us(self) -> int:
        took = self.ended_at - self.started_at
        return (took.days * 86_400 + took.seconds) * 1_000_000 + took.microseconds


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Texts:
    """The words of a turn; None where there were none."""

    input: str | None = None
    output: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedTexts:
    """Texts under the key of the session's user, in base64url."""

    input: str | None = None
    output: str | None = None
    error: str | None = None
    input_truncated: bool = False
    output_truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a turn cost, at which price: the model's entry and the row's start.

    ``price_id`` is None for the sum of several prices.
    """

    amount: Decimal
    currency: str
    price_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedShare:
    """What one model took of a turn, and what that cost; None is unknown."""

    share: ModelShare
    cost: Cost | None


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


def faults(turn: Turn, *, now: datetime) -> list[Problem]:
    """Say what is impossible about a turn; the paths are the names of its fields."""
    found = []
    if turn.started_at > now + CLOCK_AHEAD_MAX:
        found.append(Problem("started_at", "lies in the future"))
    if turn.ended_at < turn.started_at:
        found.append(Problem("ended_at", "lies before started_at"))
    elif turn.ended_at > now + CLOCK_AHEAD_MAX:
        found.append(Problem("ended_at", "lies in the future"))
    cached = (turn.tokens.cache_read or 0) + (turn.tokens.cache_creation or 0)
    if turn.tokens.prompt is not None and cached > turn.tokens.prompt:
        found.append(Problem("prompt_tokens", "less than its cached tokens"))
    return found


def truncated(text: str, bytes_max: int) -> tuple[str, bool]:
    """Cut a text between two characters, so that its UTF-8 fits."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= bytes_max:
        return text, False
    # A lone surrogate at the very cut is dropped with the character it belongs to.
    return encoded[:bytes_max].decode("utf-8", "ignore"), True
