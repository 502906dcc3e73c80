"""What a trace store adds to a page, and what it can't take from it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from projections.sessions import routes
from projections.sessions.queries import session_page
from projections.sessions.trace_store import (
    TRACES,
    Enrichment,
    Enrichments,
    SessionKey,
    Traces,
)
from service.app import create_app
from service.resources import Resources
from tests.support.callers import Caller
from tests.support.sessions.recording import (
    LIST,
    LONG_AGO,
    Recorder,
    register_agent,
    turn,
)

# For stores that answer: far beyond what a busy machine needs.
DEADLINE_S = 60.0
# For stores that don't, which a page waits for.
SHORT_S = 1.0
Answers = Callable[[Sequence[SessionKey]], Awaitable[Enrichments]]
NOTE: Any = {"name": "note", "annotator_kind": "HUMAN", "score": None}
SUMMARY: Any = {"name": "note", "count": 1}
FULL = Enrichment(
    annotations=[NOTE],
    annotation_summaries=[SUMMARY],
    tokens=7,
    prompt_tokens=4,
    completion_tokens=3,
    cost=Decimal("0.25"),
    currency="USD",
    traces=3,
    traces_with_error=1,
    latency_ms_p50=10.5,
    latency_ms_p99=20.25,
)


@dataclass(slots=True)
class Store:
    """A trace store that answers as a test says, and remembers what it was asked."""

    answers: Answers
    asked: list[list[str]] = field(default_factory=list)
    deadlines_s: list[float] = field(default_factory=list)

    async def fetch(
        self, sessions: Sequence[SessionKey], *, deadline_s: float
    ) -> Enrichments:
        self.deadlines_s.append(deadline_s)
        self.asked.append([each.session_id for each in sessions])
        return await self.answers(sessions)


async def knows_all(sessions: Sequence[SessionKey]) -> Enrichments:
    return {each.session_id: FULL for each in sessions}


async def knows_none(sessions: Sequence[SessionKey]) -> Enrichments:
    return dict.fromkeys(each.session_id for each in sessions)


async def fails_for_the_first(sessions: Sequence[SessionKey]) -> Enrichments:
    return await knows_all(sessions[1:])


async def raises(sessions: Sequence[SessionKey]) -> Enrichments:
    raise ValueError("garbage")


async def hangs(sessions: Sequence[SessionKey]) -> Enrichments:
    await asyncio.Event().wait()
    return {}


def deadline_of(answers: Answers) -> float:
    return SHORT_S if answers is hangs else DEADLINE_S


@pytest.fixture
async def listed(
    resources: Resources, recorder: Recorder, ada: Caller
) -> Callable[..., Awaitable[Any]]:
    """List two sessions of two agents, enriched by a store that answers so."""
    other = Recorder(recorder.caller, await register_agent(ada, "other"))
    await recorder.start("full")
    await recorder.turn(
        "full",
        turn("t1", took=2, prompt_tokens=5, completion_tokens=1, input="q", output="a"),
    )
    await other.start("empty", 1)

    async def get(
        answers: Answers, query: str = "", *, deadline_s: float | None = None
    ) -> Any:
        app = create_app(resources)
        store = Store(answers)
        app[TRACES] = Traces(store, deadline_s=deadline_s or deadline_of(answers))
        async with TestClient(TestServer(app)) as client:
            caller = Caller(client, ada.token)
            reply = await caller.get(
                f"{LIST}?start_time={LONG_AGO}{query}", X_Min_Position=other.position
            )
        assert reply.status == 200
        return reply.data, store

    return get


@pytest.fixture
def slow_tables(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Delay pages before the trace store is queried."""

    def delay(seconds: float) -> None:
        async def delayed(*given: Any) -> Any:
            await asyncio.sleep(seconds)
            return await session_page(*given)

        monkeypatch.setattr(routes, "session_page", delayed)

    return delay


async def test_a_page_is_asked_about_once(listed: Any) -> None:
    data, store = await listed(knows_all)

    assert store.asked == [["empty", "full"]]
    assert [row["trace_store"] for row in data["sessions"]] == ["found", "found"]
    assert [row["session_annotations"] for row in data["sessions"]] == [[NOTE]] * 2
    assert (data["total_agents"], data["successful_agents"]) == (2, 2)


async def test_the_store_s_figures_fill_in_a_session_without_turns(
    listed: Any,
) -> None:
    data, _ = await listed(knows_all)

    empty, full = data["sessions"]
    assert (empty["figures_from"], full["figures_from"]) == ("trace_store", "service")
    assert empty["token_usage"]["total"] == 7
    assert empty["cost_summary"] == {
        "total": {"cost": 0.25, "currency": "USD"},
        "traces_without_price": None,
        "unpriced": [],
        "first_priced_at": None,
        "last_priced_at": None,
        "list_total": {"cost": None, "currency": None},
        "reported": {"cost": None, "traces": 0},
    }
    assert (empty["num_traces"], empty["num_traces_with_error"]) == (3, 1)
    assert empty["trace_latency_ms_p50"] == 10.5
    assert empty["trace_latency_ms_p99"] == 20.25


async def test_a_session_with_turns_shows_the_same_whatever_the_store_says(
    listed: Any, ada: Caller
) -> None:
    shown = []
    for answers in (knows_all, knows_none, raises, hangs):
        data, _ = await listed(answers)
        row = data["sessions"][1]
        says = row.pop("trace_store"), row.pop("trace_store_figures")
        assert (says[1] is not None) == (says[0] == "found")
        for name in ("session_annotations", "session_annotation_summaries"):
            del row[name]
        shown.append(row)

    assert shown[1:] == shown[:-1]
    single = (await ada.get("/api/observability/session/full")).data
    assert {name: single[name] for name in shown[0]} == shown[0]
    [turn] = single["turns"]
    assert turn["token_usage"] == single["token_usage"]
    usage = (await ada.get("/api/usage?from_day=2026-03-01")).data["usage"]
    assert [row["token_usage"]["total"] for row in usage] == [6]


async def test_an_empty_page_asks_nothing(listed: Any) -> None:
    data, store = await listed(knows_all, "&offset=5")

    assert (data["sessions"], store.asked) == ([], [])
    assert (data["total_agents"], data["successful_agents"]) == (0, 0)


@pytest.mark.parametrize(
    ("answers", "says", "successful"),
    [
        (knows_none, ["unknown_session"] * 2, 2),
        (fails_for_the_first, ["unavailable", "found"], 1),
        (raises, ["unavailable"] * 2, 0),
        (hangs, ["unavailable"] * 2, 0),
    ],
)
async def test_a_store_with_less_harms_no_row(
    listed: Any, answers: Answers, says: list[str], successful: int
) -> None:
    data, _ = await listed(answers)

    assert [row["trace_store"] for row in data["sessions"]] == says
    assert (data["total_agents"], data["successful_agents"]) == (2, successful)
    full = data["sessions"][1]
    assert (full["first_input"], full["last_output"]) == ("q", "a")
    assert (full["num_traces"], full["token_usage"]["total"]) == (1, 6)
    assert full.keys() == data["sessions"][0].keys()


async def test_a_page_waits_for_its_tables_and_the_store_together(
    listed: Any, slow_tables: Callable[[float], None]
) -> None:
    slow_tables(0.3)

    data, store = await listed(knows_all)

    [deadline_s] = store.deadlines_s
    assert deadline_s <= DEADLINE_S - 0.3
    assert data["successful_agents"] == 2


async def test_a_page_queries_the_store_only_while_time_is_left(
    listed: Any, slow_tables: Callable[[float], None]
) -> None:
    slow_tables(SHORT_S)

    data, store = await listed(knows_all, deadline_s=SHORT_S)

    assert store.asked == []
    assert [row["trace_store"] for row in data["sessions"]] == ["unavailable"] * 2
