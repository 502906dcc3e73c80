"""The usage of one model call: counts of units, each of which a price may charge.

Units contain others: cached and audio tokens are part of the input tokens, cache writes
for an hour are part of the cache writes. ``UNITS`` says which, by labels: a unit is
part of each unit whose labels are among its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of usage: its prices are for ``per`` of it."""

    per: int
    labels: frozenset[str]


def _tokens(*labels: str) -> Unit:
    return Unit(MILLION, frozenset(labels))


UNITS: Final[Mapping[str, Unit]] = {
    "input_tokens": _tokens("input"),
    "output_tokens": _tokens("output"),
    "cache_read_tokens": _tokens("input", "cache read"),
    "cache_write_tokens": _tokens("input", "cache write"),
    "cache_write_5m_tokens": _tokens("input", "cache write", "5 minutes"),
    "cache_write_1h_tokens": _tokens("input", "cache write", "1 hour"),
    "input_audio_tokens": _tokens("input", "audio"),
    "cache_audio_read_tokens": _tokens("input", "audio", "cache read"),
    "output_audio_tokens": _tokens("output", "audio"),
    "input_image_tokens": _tokens("input", "image"),
    "cache_image_read_tokens": _tokens("input", "image", "cache read"),
    "output_image_tokens": _tokens("output", "image"),
    "input_video_tokens": _tokens("input", "video"),
    "output_video_tokens": _tokens("output", "video"),
    "output_reasoning_tokens": _tokens("output", "reasoning"),
    "output_citation_tokens": _tokens("output", "citation"),
    "input_characters": Unit(MILLION, frozenset({"input characters"})),
    "output_characters": Unit(MILLION, frozenset({"output characters"})),
    "audio_seconds": Unit(3600, frozenset({"audio time"})),
    "input_audio_seconds": Unit(3600, frozenset({"audio time", "input time"})),
    "output_audio_seconds": Unit(3600, frozenset({"audio time", "output time"})),
    "video_seconds": Unit(3600, frozenset({"video time"})),
    "input_images": Unit(1000, frozenset({"input images"})),
    "output_images": Unit(1000, frozenset({"output images"})),
    "input_document_pages": Unit(1000, frozenset({"pages"})),
    "input_annotated_document_pages": Unit(1000, frozenset({"pages", "annotated"})),
    "input_text_messages": Unit(1000, frozenset({"messages"})),
    "rerank_searches": Unit(1000, frozenset({"rerank"})),
    "web_searches": Unit(1000, frozenset({"web search"})),
    "storage_searches": Unit(1000, frozenset({"storage search"})),
    "requests": Unit(1000, frozenset({"requests"})),
}
# What a model call may ask for that has another price.
CONDITIONS: Final = frozenset(
    {"service_tier", "processing", "speed", "search_type", "route"}
)


def _none() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallUsage:
    """The usage of one model call; None is not reported, which isn't 0.

    One model call, never a sum over calls: tiers depend on the length of each prompt.
    ``input_tokens`` includes the tokens read from and written to a cache and those that
    aren't text, ``output_tokens`` those of reasoning; callers add what a provider
    counts separately. ``total_tokens`` is what was reported as their sum, if that
    contradicts them. ``cache_write_tokens`` includes the writes of every duration.

    ``others`` counts further units by their names in ``UNITS``. ``conditions`` are what
    the call asked for that may have another price: ``service_tier`` (``default``,
    ``flex``, ``priority``, ``fast``), ``processing`` (``batch``), ``speed``
    (``fast``), ``search_type``, ``route``.

    ``untold`` names the units and conditions that the telemetry doesn't tell, or not
    for certain: where the price depends on one of them, the cost is an estimate.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    input_audio_tokens: int | None = None
    output_audio_tokens: int | None = None
    input_image_tokens: int | None = None
    output_image_tokens: int | None = None
    output_reasoning_tokens: int | None = None
    output_images: int | None = None
    total_tokens: int | None = None
    requests: int = 1
    others: Mapping[str, int | Decimal] = field(default_factory=_none)
    conditions: Mapping[str, str] = field(default_factory=_none)
    untold: tuple[str, ...] = ()

    def count(self, unit: str) -> int | Decimal | None:
        """Return the number of a unit in ``UNITS``, or None if it wasn't reported."""
        counted: int | Decimal | None = getattr(self, unit, None)
        return self.others.get(unit) if counted is None else counted
