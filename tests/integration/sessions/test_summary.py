"""A row follows from the set of turns: not from their order, batches or repeats."""

import asyncio
import itertools
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from projections.sessions.projector import SessionsProjector
from service.sessions.turn import Texts, TokenCounts, Turn
from tests.integration.sessions.projected import read_tables, recorded, session_events

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATENCY_US_MAX = 10**9
OF_DATABASE = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

ROW = """
    SELECT s.rendered, s.started_at, s.last_active_at, s.ended_at,
           s.has_error, s.opened_at, i.turn_id AS first_input, o.turn_id AS last_output
      FROM session s
      LEFT JOIN session_turn i ON i.session = s.id AND i.version = s.first_input_version
      LEFT JOIN session_turn o ON o.session = s.id AND o.version = s.last_output_version
"""

moments = st.integers(-1000, 1000).map(
    lambda seconds: NOON + timedelta(seconds=seconds)
)
counts = st.none() | st.integers(0, 1000)
texts = st.none() | st.just("sealed")


@st.composite
def some_turns(draw: st.DrawFn) -> list[Turn]:
    turns = []
    for number in range(draw(st.integers(0, 8))):
        started_at = draw(moments)
        took = timedelta(microseconds=draw(st.integers(0, LATENCY_US_MAX)))
        turns.append(
            Turn(
                turn_id=f"t{number}",
                started_at=started_at,
                ended_at=started_at + took,
                tokens=TokenCounts(prompt=draw(counts), completion=draw(counts)),
                is_error=draw(st.booleans()),
                texts=Texts(input=draw(texts), output=draw(texts)),
            )
        )
    return turns


def project(
    database_url: str, events: Sequence[Any], batches: Sequence[int] = ()
) -> tuple[Any, ...]:
    """Project events in batches that end at the given places; return the row."""

    async def run() -> tuple[Any, ...]:
        async with read_tables(database_url) as db:
            in_log = recorded(events)
            places = sorted({0, len(in_log), *(each % len(in_log) for each in batches)})
            for start, end in itertools.pairwise(places):
                await SessionsProjector().project(db, in_log[start:end])
            row: tuple[Any, ...] | None = await (await db.execute(ROW)).fetchone()
            assert row is not None
            return row

    return asyncio.run(run())


def quantile(values: Sequence[float], probability: float) -> float:
    """Interpolate between the two nearest ranks, as numpy's default does."""
    ordered = sorted(values)
    place = probability * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@OF_DATABASE
@given(data=st.data(), turns=some_turns())
def test_any_order_and_repetition_of_turns_gives_the_same_row(
    database_url: str, data: st.DataObject, turns: list[Turn]
) -> None:
    ended_at = NOON + timedelta(seconds=2000)
    told = data.draw(st.permutations(turns + turns[:3]))
    batches = data.draw(st.lists(st.integers(0, 100), max_size=3))

    straight = session_events(NOON, turns, ended_at=ended_at)
    shuffled = session_events(NOON, told, ended_at=ended_at)

    assert project(database_url, shuffled, batches) == project(database_url, straight)


@OF_DATABASE
@given(turns=some_turns())
def test_a_row_says_what_its_turns_come_to(
    database_url: str, turns: list[Turn]
) -> None:
    row = project(database_url, session_events(NOON, turns))
    shown = orjson.loads(row[0])

    start = min([NOON, *(turn.started_at for turn in turns)])
    end = max([NOON, *(turn.ended_at for turn in turns)])
    assert (row[1], row[2]) == (start, end)
    assert datetime.fromisoformat(shown["start_time"]) == start
    assert datetime.fromisoformat(shown["end_time"]) == end
    assert shown["duration_ms"] == (end - start) // timedelta(milliseconds=1)
    assert shown["num_traces"] == len(turns)
    assert shown["num_traces_with_error"] == sum(turn.is_error for turn in turns)
    latencies = [
        (turn.ended_at - turn.started_at) / timedelta(milliseconds=1) for turn in turns
    ]
    for name, probability in (("p50", 0.5), ("p99", 0.99)):
        latency = shown[f"trace_latency_ms_{name}"]
        if latencies:
            assert math.isclose(
                latency, quantile(latencies, probability), rel_tol=1e-12
            )
        else:
            assert latency is None
    prompts = [turn.tokens.prompt for turn in turns if turn.tokens.prompt is not None]
    completions = [
        turn.tokens.completion for turn in turns if turn.tokens.completion is not None
    ]
    assert shown["token_usage"]["prompt"] == (sum(prompts) if prompts else None)
    told = prompts + completions
    assert shown["token_usage"]["total"] == (sum(told) if told else None)
    asked = sorted((t.started_at, t.turn_id) for t in turns if t.texts.input)
    answered = sorted((t.started_at, t.turn_id) for t in turns if t.texts.output)
    assert row[6] == (asked[0][1] if asked else None)
    assert row[7] == (answered[-1][1] if answered else None)
