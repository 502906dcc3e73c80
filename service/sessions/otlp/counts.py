"""Read how much a model call used: wholes with all their parts, so that they add up.

Providers count cached tokens in the input or beside it, those of reasoning in the
output or beside it. Where an instrumentation doesn't always do the one or the other,
the total tells; without a total, a part that exceeds its whole stands beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from service.sessions.otlp.answers import Answer
from service.sessions.otlp.attributes import Attributes, first_count
from service.sessions.otlp.instrumentation import (
    OUTPUT,
    READS,
    REASONING,
    WRITES,
    Instrumentation,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a model call used; ``prompt`` and ``completion`` include their parts.

    ``contradiction`` is the total that is told, if no sum of the parts is equal to it;
    ``is_settled``: one of them is, and no other. ``untold`` names what isn't certain if
    several are.
    """

    prompt: int | None = None
    completion: int | None = None
    cache_read: int | None = None
    cache_creation: int | None = None
    details: Mapping[str, int]
    contradiction: int | None = None
    is_settled: bool = False
    untold: tuple[str, ...] = ()

    def all(self) -> set[int]:
        """Return each count, and the sums of cached tokens and of writes."""
        cached = (self.cache_read or 0) + (self.cache_creation or 0)
        counts = (self.prompt, self.completion, self.cache_read, self.cache_creation)
        return {each for each in (*counts, cached, *self.details.values()) if each}


def read_counts(
    found: Attributes,
    row: Instrumentation,
    answer: Answer,
    *,
    prompt: int | None,
    completion: int | None,
    details: dict[str, int],
) -> Counts:
    """Return the input and output with all their parts, and the cached tokens."""
    read = first_count(found, *row.cache_read)
    if read is None:
        read = answer.counts.get(READS)
    written = first_count(found, *row.cache_creation)
    if written is None:
        written = answer.counts.get(WRITES)
    if prompt is None:
        return Counts(completion=completion, details=details)
    cached = (read or 0) + (written or 0)
    is_outside = _is_outside(row, prompt, cached)
    whole = prompt + cached if is_outside else prompt
    outputs = [] if completion is None else _outputs(completion, details)
    counts = Counts(
        prompt=whole,
        completion=outputs[0] if outputs else None,
        cache_read=read,
        cache_creation=written,
        details=details,
    )
    # Some write 0 for a total that they don't know.
    total = first_count(found, *row.total)
    if not total or not outputs:
        return counts
    sums = {
        (i, o) for i in (prompt, prompt + cached) for o in outputs if i + o == total
    }
    if is_outside is not None:
        # The total may have been told without the cached tokens.
        sums = {each for each in sums if each[0] == whole} or {
            (whole, o) for _, o in sums
        }
    if sums:
        first = min(sums)
        return replace(
            counts,
            prompt=first[0],
            completion=first[1],
            is_settled=len(sums) == 1,
            untold=() if len(sums) == 1 else (READS, OUTPUT),
        )
    if row.output_from_total:
        return replace(counts, completion=max(outputs[0], total - whole))
    return replace(counts, contradiction=total)


def _is_outside(row: Instrumentation, prompt: int, cached: int) -> bool | None:
    """Return whether cached tokens stand beside the input; None: the total tells."""
    if row.caches == "by the total":
        return True if cached > prompt else None
    return row.caches == "outside"


def _outputs(completion: int, details: Mapping[str, int]) -> list[int]:
    """Return what the whole output may be, the likeliest first."""
    reasoning = details.get(REASONING)
    if not reasoning:
        return [completion]
    if reasoning > completion:
        return [completion + reasoning]
    return [completion, completion + reasoning]
