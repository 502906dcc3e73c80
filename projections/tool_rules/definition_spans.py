"""Events of tool definitions to the spans of each tool's definition."""

from collections import Counter
from collections.abc import Iterator, Sequence
from uuid import UUID

from projections.tool_rules.spans import DefinitionSpan, Spans
from projections.tool_rules.table import first_seen_of, lasting_definitions
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.pacing import Pace
from service.tool_definitions.aggregate import FIRST_SEEN_MAX
from service.tool_definitions.names import is_acceptable_name

Tool = tuple[UUID, str]


async def fold_definitions(
    db: Db, events: Sequence[RecordedEvent]
) -> Spans[Tool, DefinitionSpan]:
    """Fold what each event says of each tool.

    A tool whose name can't be accepted is left out: it is denied in any case, and its
    name may be anything.
    """
    if not events:
        return Spans({})
    named = {tool for each in events for tool in _named(each)}
    folded = _Definitions(
        Spans(
            {
                (each.connector_id, each.tool): each
                for each in await lasting_definitions(db, named)
            }
        ),
        await first_seen_of(db, {UUID(each.event.connector_id) for each in events}),
    )
    pace = Pace()
    for recorded in events:
        await pace.pause()
        folded.apply(recorded)
    return folded.spans


def _named(recorded: RecordedEvent) -> Iterator[Tool]:
    connector_id = UUID(recorded.event.connector_id)
    gone = getattr(recorded.event, "gone", ())
    for tool in (*recorded.event.digests, *gone):
        if is_acceptable_name(tool):
            yield connector_id, tool


class _Definitions:
    """The definitions of some connectors' tools, from one event to the next."""

    def __init__(
        self, spans: Spans[Tool, DefinitionSpan], first_seen: dict[UUID, int]
    ) -> None:
        self.spans = spans
        self._first_seen = Counter(first_seen)

    def apply(self, recorded: RecordedEvent) -> None:
        event = recorded.event
        # What is accepted makes room among those first seen.
        accepted = {*getattr(event, "accepted", event.digests)}
        named = dict.fromkeys(_named(recorded))
        for tool in sorted(named, key=lambda each: each[1] not in accepted):
            before = self.spans.lasting.get(tool)
            span = DefinitionSpan(
                connector_id=tool[0],
                tool=tool[1],
                observed=event.digests.get(tool[1]),
                accepted=before.accepted if before else None,
                first_seen=before.first_seen if before else None,
                is_unacceptable=tool[1] in getattr(event, "unacceptable", ()),
                since=recorded.position,
            )
            if tool[1] in accepted:
                span.accepted, span.first_seen = span.observed, None
            elif self._is_first_seen(span):
                span.first_seen = span.observed
            self._first_seen[tool[0]] += (span.first_seen is not None) - (
                before is not None and before.first_seen is not None
            )
            self.spans.begin(tool, span)

    def _is_first_seen(self, span: DefinitionSpan) -> bool:
        return (
            span.observed is not None
            and span.accepted is None
            and span.first_seen is None
            and not span.is_unacceptable
            and self._first_seen[span.connector_id] < FIRST_SEEN_MAX
        )
