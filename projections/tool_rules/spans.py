"""What stands, and since which event: spans of positions, folded from events."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from service.tool_definitions.aggregate import Standing, standing_of


@dataclass(slots=True, kw_only=True)
class Span:
    """From the position of one event until that of another; None while it lasts."""

    since: int
    until: int | None = None

    @property
    def changed_at(self) -> int:
        """The position where it ended, or began if it hasn't ended."""
        return self.since if self.until is None else self.until


@dataclass(slots=True, kw_only=True)
class RuleSpan(Span):
    agent_id: UUID
    connector_id: UUID
    pattern: str
    stance: str
    search_key: int


@dataclass(slots=True, kw_only=True)
class HoldingSpan(Span):
    """An agent holds a connector, as far as the connector's grants say."""

    connector_id: UUID
    agent_id: UUID


@dataclass(slots=True, kw_only=True)
class DefinitionSpan(Span):
    """The digests of a tool's definition: observed, accepted, and first seen.

    One of a tool that was never accepted has the first that was seen.
    """

    connector_id: UUID
    tool: str
    observed: str | None = None
    accepted: str | None = None
    first_seen: str | None = None
    is_unacceptable: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the tool is listed, or was and may come back as accepted."""
        return self.observed is not None or self.accepted is not None

    @property
    def standing(self) -> Standing | None:
        return standing_of(
            observed=self.observed,
            accepted=self.accepted,
            first_seen=self.first_seen,
            is_unacceptable=self.is_unacceptable,
        )


def held(
    holdings: Iterable[HoldingSpan], retired_at: int | None
) -> Iterator[HoldingSpan]:
    """Yield when an agent held connectors: once it is retired, it holds none."""
    for each in holdings:
        if retired_at is None or (each.until is not None and each.until < retired_at):
            yield each
        elif each.since < retired_at:
            yield replace(each, until=retired_at)


Key = TypeVar("Key")
AnySpan = TypeVar("AnySpan", bound=Span)


class Found(NamedTuple, Generic[AnySpan]):
    """Spans that began by a position; complete from a position on, 0 the beginning.

    One that lasted at the position has no end.
    """

    spans: Sequence[AnySpan]
    complete_from: int = 0


@dataclass(slots=True)
class Spans(Generic[Key, AnySpan]):
    """The spans that last, by key, and what a batch of events has changed of them.

    ``ended`` are of the given ones; ``begun`` are new, and may have ended since.
    """

    lasting: dict[Key, AnySpan]
    ended: list[AnySpan] = field(default_factory=list)
    begun: list[AnySpan] = field(default_factory=list)

    def begin(self, key: Key, span: AnySpan) -> None:
        """Begin a span, which ends the one of the same key if there is one."""
        self.end(key, span.since)
        self.lasting[key] = span
        self.begun.append(span)

    def end(self, key: Key, position: int) -> None:
        span = self.lasting.pop(key, None)
        if span is None:
            return
        span.until = position
        # What a batch begins comes behind all that was given.
        if not self.begun or span.since < self.begun[0].since:
            self.ended.append(span)
