"""Open traces, which accept more spans: merging spans into them."""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from uuid import UUID

import orjson
from psycopg.rows import TupleRow

from service.database import Db, Pool
from service.pacing import computed
from service.sessions.otlp.span import KeptSpan, KeptText
from service.sessions.otlp.statements import (
    COUNT,
    EXPORTS,
    KEEP_SESSION,
    LOCK,
    MERGE,
    MERGE_INTO_ROW,
    PUT_TOGETHER,
    SPAN_BYTES,
    WHOLE,
)
from service.sessions.otlp.trace import NO_TEXTS, TraceTexts, first_session

SPANS_OF_TRACE_MAX: Final = 5_000
TRACES_OF_AGENT_MAX: Final = 500_000
# Bounds a trace, with the encrypted texts of spans with which a turn can begin.
TRACE_BYTES_MAX: Final = 4 * 1024 * 1024
# In one statement, which holds the event loop while it is sent and read.
BYTES_AT_ONCE: Final = 1024 * 1024
TRACES_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class TraceKey:
    """A trace of one agent; spans of other agents are not part of it."""

    agent_id: UUID
    trace_id: str


@dataclass(frozen=True, slots=True)
class KeptTrace:
    """Spans of a trace, and the best texts of those with which no turn can begin.

    ``session_id`` is the session in which an earlier export made it a turn.
    ``kept_since`` is the end of the log when the first of its spans came.
    """

    spans: Sequence[KeptSpan]
    texts: TraceTexts = NO_TEXTS
    session_id: str | None = None
    kept_since: int | None = None

    @property
    def size(self) -> int:
        """About as many bytes as it has in JSON."""
        entries = sum(each.entry.size for each in self.spans if each.entry is not None)
        texts = (self.texts.input, self.texts.output)
        sealed = sum(len(each.sealed) for each in texts if each is not None)
        return SPAN_BYTES * len(self.spans) + entries + sealed

    @property
    def is_too_large(self) -> bool:
        is_long = len(self.spans) > SPANS_OF_TRACE_MAX
        return is_long or self.size > TRACE_BYTES_MAX


async def merge_spans(
    pool: Pool, given: Mapping[TraceKey, KeptTrace], *, room: int = 0
) -> AsyncIterator[dict[TraceKey, KeptTrace]]:
    """Add spans to their traces, and yield what is kept of these traces.

    Some at a time, as a small export may be of many long traces. All that is kept, of
    those that can be turns; of the others what was given. A trace that
    would have more than ``SPANS_OF_TRACE_MAX``, or has more than ``TRACE_BYTES_MAX``,
    stays as it is and is not yielded. ``room`` is for as many spans more.
    """
    left = deque(await computed(len(given), _batches, given))
    while left:
        # Each is freed in its turn: all at once would hold the event loop for long.
        some = left.popleft()
        rows = await _merge(pool, some, room)
        yield await _merged(rows, some)
        async for whole in _read(pool, _long(rows)):
            yield await _merged(whole, some)


def _batches(given: Mapping[TraceKey, KeptTrace]) -> list[dict[TraceKey, KeptTrace]]:
    """Divide traces into batches of bounded size; a large trace is one by itself."""
    batches: list[dict[TraceKey, KeptTrace]] = []
    free = 0
    for key in sorted(given, key=lambda key: (key.agent_id, key.trace_id)):
        trace = given[key]
        if trace.is_too_large:
            continue
        size = trace.size
        if size > free or len(batches[-1]) == TRACES_AT_ONCE:
            batches.append({})
            free = BYTES_AT_ONCE
        batches[-1][key] = trace
        free -= size
    return batches


async def _merge(
    pool: Pool, given: Mapping[TraceKey, KeptTrace], room: int
) -> list[TupleRow]:
    async with pool.connection() as db:
        cursor = await db.execute(MERGE, await _arguments(given, room))
        rows = await cursor.fetchall()
        if len(rows) < len(given):
            found = {TraceKey(*row[:2]) for row in rows}
            others = {key: given[key] for key in given if key not in found}
            async with db.transaction():
                await _keep_sessions(db, others)
                await db.execute(PUT_TOGETHER, _keys(others))
                cursor = await db.execute(
                    MERGE_INTO_ROW, await _arguments(others, room)
                )
                rows += await cursor.fetchall()
    return rows


def _long(rows: Iterable[TupleRow]) -> dict[TraceKey, int]:
    """Return the sizes of traces that a turn needs and no row has."""
    return {
        TraceKey(agent_id, trace_id): size
        for agent_id, trace_id, size, first_export, *_ in rows
        if size is not None and first_export is None
    }


async def _read(
    pool: Pool, sizes: Mapping[TraceKey, int]
) -> AsyncIterator[list[TupleRow]]:
    """Read whole traces, about ``BYTES_AT_ONCE`` or one at a time."""
    left = deque(sizes)
    while left:
        some = [left.popleft()]
        free = BYTES_AT_ONCE - sizes[some[0]]
        while left and sizes[left[0]] <= free:
            some.append(left.popleft())
            free -= sizes[some[-1]]
        async with pool.connection() as db:
            cursor = await db.execute(WHOLE, _keys(some))
            rows = await cursor.fetchall()
        yield rows


async def _keep_sessions(db: Db, keys: Iterable[TraceKey]) -> None:
    """Lock traces, and keep the sessions of turns whose exports are put together."""
    cursor = await db.execute(LOCK, _keys(keys))
    for agent_id, trace_id, may_be_turn in await cursor.fetchall():
        if not may_be_turn:
            continue
        trace = {"agent": agent_id, "trace": trace_id}
        row = await (await db.execute(EXPORTS, trace)).fetchone()
        assert row is not None
        first_export, parts = row
        size = (len(first_export) + sum(map(len, parts))) // SPAN_BYTES
        session_id = await computed(size, _session_of, first_export, parts)
        await db.execute(KEEP_SESSION, {**trace, "session": session_id})


def _session_of(first_export: str, parts: Iterable[str]) -> str | None:
    exports = [_spans(orjson.loads(each)) for each in (first_export, *parts)]
    return first_session([*exports, {}])


async def _arguments(given: Mapping[TraceKey, KeptTrace], room: int) -> dict[str, Any]:
    traces = given.values()
    spans = [trace.spans for trace in traces]
    return {
        **_keys(given),
        "spans": await computed(sum(map(len, spans)), _rendered, spans),
        "counts": [len(each) for each in spans],
        "have_entry": [any(span.entry for span in each) for each in spans],
        "name_session": [any(span.session_id for span in each) for each in spans],
        "inputs": [_text_json(trace.texts.input) for trace in traces],
        "outputs": [_text_json(trace.texts.output) for trace in traces],
        "bytes_shown": BYTES_AT_ONCE // len(given),
        "spans_max": SPANS_OF_TRACE_MAX + room,
        "bytes_max": TRACE_BYTES_MAX * (2 if room else 1),
    }


def _keys(keys: Iterable[TraceKey]) -> dict[str, Any]:
    listed = list(keys)
    return {
        "agents": [key.agent_id for key in listed],
        "traces": [key.trace_id for key in listed],
    }


def _rendered(traces: Iterable[Iterable[KeptSpan]]) -> list[str]:
    return [_json({span.span_id: span.to_json() for span in each}) for each in traces]


async def _merged(
    rows: Sequence[TupleRow], given: Mapping[TraceKey, KeptTrace]
) -> dict[TraceKey, KeptTrace]:
    """Return traces by key, those that rows don't have whole as they were given."""
    size = sum(_length(row) for row in rows) // SPAN_BYTES
    return await computed(size, _put_together, rows, given)


def _put_together(
    rows: Iterable[TupleRow], given: Mapping[TraceKey, KeptTrace]
) -> dict[TraceKey, KeptTrace]:
    """Put the exports of each trace together, where a turn needs all of them."""
    merged = {}
    for agent_id, trace_id, size, first_export, *texts, parts, session, since in rows:
        key = TraceKey(agent_id, trace_id)
        if size is None:
            merged[key] = replace(given[key], kept_since=since)
        elif first_export is not None:
            exports = [
                *(
                    _spans(orjson.loads(each))
                    for each in (first_export, *(parts or ()))
                ),
                {span.span_id: span for span in given[key].spans},
            ]
            spans: dict[str, KeptSpan] = {}
            # The first export last: of a span that came twice, the first one stays.
            for exported in reversed(exports):
                spans |= exported
            merged[key] = KeptTrace(
                list(spans.values()),
                _texts(*texts),
                session or first_session(exports),
                since,
            )
    return merged


def _length(row: TupleRow) -> int:
    first_export, parts = row[3], row[6]
    return len(first_export or "") + sum(map(len, parts or ()))


async def has_room(pool: Pool, agent_id: UUID) -> bool:
    """Return whether an agent may start more traces."""
    async with pool.connection() as db:
        cursor = await db.execute(
            COUNT, {"agent": agent_id, "limit": TRACES_OF_AGENT_MAX}
        )
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0]) < TRACES_OF_AGENT_MAX


def _spans(known: Mapping[str, Any]) -> dict[str, KeptSpan]:
    return {
        span_id: KeptSpan.from_json(span_id, span) for span_id, span in known.items()
    }


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _text_json(text: KeptText | None) -> str | None:
    return None if text is None else _json(asdict(text))


def _texts(
    first_input: dict[str, str] | None, last_output: dict[str, str] | None
) -> TraceTexts:
    return TraceTexts(
        input=None if first_input is None else KeptText(**first_input),
        output=None if last_output is None else KeptText(**last_output),
    )
