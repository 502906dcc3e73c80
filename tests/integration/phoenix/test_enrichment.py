"""Our page against Phoenix's own answers, field by field."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiohttp.test_utils import TestClient, TestServer

from projections.sessions.phoenix.store import open_phoenix
from projections.sessions.trace_store import TRACES, Traces
from service.app import create_app
from service.resources import Resources
from tests.integration.phoenix.agent import Agent, annotated
from tests.integration.phoenix.server import Phoenix, running_phoenix
from tests.support.callers import Caller, Callers
from tests.support.sessions.recording import LIST, LONG_AGO, Recorder, register_agent

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]

# Written anew, for the adapter's must not be its own witness.
OWN_QUERY = """
query($s: String!) { s: getProjectSessionById(sessionId: $s) {
  sessionId startTime endTime numTraces numTracesWithError
  project { name }
  firstInput { value }
  lastOutput { value }
  tokenUsage { prompt completion total }
  costSummary { total { cost tokens } }
  p50: traceLatencyMsQuantile(probability: 0.5)
  p99: traceLatencyMsQuantile(probability: 0.99)
  sessionAnnotations {
    id name annotatorKind label score explanation metadata identifier source
    createdAt updatedAt user { username }
  }
  sessionAnnotationSummaries {
    name count labels meanScore scoreCount labelCount
    labelFractions { label fraction }
  }
} }
"""
HOSTILE = [
    "it's",
    'a "quoted" one',
    "back\\slash\\",
    "'] or session_id in ['",
    '"]) or (1==1',
    "{x} $c0 %s #",
    "é 😀",
    "UHJvamVjdFNlc3Npb246MQ==",
]
FIGURES = (
    "num_traces",
    "num_traces_with_error",
    "trace_latency_ms_p50",
    "trace_latency_ms_p99",
    "token_usage",
    "cost_summary",
)
# How much longer a page takes on a busy machine; Phoenix would never answer.
DEADLINE_S = 2.0
BUSY_S = 30.0
NOW = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)


@asynccontextmanager
async def served(
    resources: Resources,
    phoenix: Phoenix | None,
    by: Caller,
    *,
    deadline_s: float = BUSY_S,
    token: str | None = None,
) -> AsyncIterator[Any]:
    """Give a function that lists everything, enriched by a Phoenix."""
    async with asynccontextmanager(_store)(phoenix, token) as store:
        app = create_app(resources)
        app[TRACES] = Traces(store, deadline_s)
        async with TestClient(TestServer(app)) as client:
            caller = Caller(client, by.token)

            async def page() -> Any:
                head = await resources.log.head()
                reply = await caller.get(
                    f"{LIST}?start_time={LONG_AGO}&limit=100",
                    X_Min_Position=str(head.position),
                )
                assert reply.status == 200
                return reply.data

            yield page


async def _store(phoenix: Phoenix | None, token: str | None) -> AsyncIterator[Any]:
    if phoenix is None:
        yield None
        return
    async with open_phoenix(phoenix.base_url, token=token) as store:
        yield store


def snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def in_our_spelling(value: Any) -> Any:
    """Return what Phoenix answers about annotations as we show it."""
    if isinstance(value, list):
        return [in_our_spelling(each) for each in value]
    if not isinstance(value, dict):
        return value
    shown = {snake(name): in_our_spelling(each) for name, each in value.items()}
    if "metadata" in value:
        shown["metadata"] = value["metadata"]
    if "createdAt" in value:
        for name in ("created_at", "updated_at"):
            moment = datetime.fromisoformat(shown[name]).astimezone(UTC)
            shown[name] = moment.isoformat().replace("+00:00", "Z")
        shown["user"] = value["user"] and value["user"]["username"]
    return shown


def expect_as_phoenix_says(row: Any, says: Any) -> None:
    assert row["trace_store"] == "found"
    usage, cost = says["tokenUsage"], says["costSummary"]["total"]
    theirs = row["trace_store_figures"]
    if usage["total"]:
        assert row["token_usage"]["total"] == usage["total"]
        assert row["token_usage"]["prompt"] == usage["prompt"]
        assert row["token_usage"]["completion"] == usage["completion"]
        assert theirs["tokens"] == usage["total"]
        assert theirs["prompt_tokens"] == usage["prompt"]
        assert theirs["completion_tokens"] == usage["completion"]
    else:
        assert row["token_usage"]["total"] is None
        assert theirs["tokens"] is None
    if cost["cost"]:
        assert theirs["currency"] == "USD"
        assert theirs["cost"] == pytest.approx(cost["cost"], rel=1e-14)
    else:
        # Nothing to pay for, or Phoenix has no price.
        assert (theirs["cost"], theirs["currency"]) == (None, None)
    assert theirs["traces"] == says["numTraces"]
    assert theirs["traces_with_error"] == says["numTracesWithError"]
    assert theirs["latency_ms_p50"] == pytest.approx(says["p50"], rel=1e-12)
    assert theirs["latency_ms_p99"] == pytest.approx(says["p99"], rel=1e-12)
    assert row["num_traces"] == says["numTraces"]
    assert row["num_traces_with_error"] == says["numTracesWithError"]
    assert row["trace_latency_ms_p50"] == pytest.approx(says["p50"], rel=1e-12)
    assert row["trace_latency_ms_p99"] == pytest.approx(says["p99"], rel=1e-12)
    assert row["session_annotations"] == in_our_spelling(says["sessionAnnotations"])
    assert row["session_annotation_summaries"] == in_our_spelling(
        says["sessionAnnotationSummaries"]
    )
    # Ours by design, and the same.
    assert row["first_input"] == says["firstInput"]["value"]
    assert row["last_output"] == says["lastOutput"]["value"]
    for ours, theirs in (("start_time", "startTime"), ("end_time", "endTime")):
        assert datetime.fromisoformat(row[ours]) == datetime.fromisoformat(says[theirs])


async def test_a_page_says_what_phoenix_says(
    phoenix: Phoenix, resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    run = uuid4().hex[:8]
    other_id = await register_agent(ada, "other")
    agent = Agent(recorder.agent_id, recorder.caller, phoenix)
    other = Agent(other_id, recorder.caller, phoenix)
    for number, took_ms in enumerate((1000, 2000, 4000)):
        await agent.chat(
            f"{run}-three",
            NOW + timedelta(seconds=60 * number, microseconds=123_000 * number),
            took_ms=took_ms,
            words=(f"question {number}", f"answer {number}"),
        )
    await agent.chat(f"{run}-failed", NOW, error="the tracker is down")
    await agent.chat(f"{run}-failed", NOW + timedelta(seconds=5))
    await agent.chat(f"{run}-unpriced", NOW, model="no-such-model")
    await agent.chat(f"{run}-without tokens", NOW, model=None)
    await other.chat(f"{run}-other", NOW, model="gpt-4o", tokens=(123_457, 89))
    await recorder.start(f"{run}-only ours")
    for each in (agent, other):
        await each.arrived()
    await annotated(
        phoenix,
        [
            {
                "session_id": f"{run}-three",
                "name": "helpfulness",
                "annotator_kind": "LLM",
                "identifier": "judge-1",
                "result": {
                    "label": "helpful",
                    "score": 0.9,
                    "explanation": "answered everything",
                },
                "metadata": {"model": "gpt-4o", "nested": {"camelCase": [1, None]}},
            },
            {
                "session_id": f"{run}-three",
                "name": "helpfulness",
                "annotator_kind": "HUMAN",
                "identifier": "alice",
                "result": {"label": "unhelpful", "score": 0.1},
            },
            {
                "session_id": f"{run}-other",
                "name": "frustration",
                "annotator_kind": "CODE",
                "result": {"score": 3},
            },
        ],
    )

    async with served(resources, phoenix, ada) as page:
        data = await page()
    async with served(resources, None, ada) as page:
        own = {row["session_id"]: row for row in (await page())["sessions"]}

    assert (data["total_agents"], data["successful_agents"]) == (2, 2)
    rows = {row["session_id"]: row for row in data["sessions"]}
    assert rows.pop(f"{run}-only ours")["trace_store"] == "unknown_session"
    assert len(rows) == 5
    for session_id, row in rows.items():
        says = await asyncio.to_thread(phoenix.ask, OWN_QUERY, s=session_id)
        expect_as_phoenix_says(row, says["s"])
        # Recorded turns have the service's figures, with and without Phoenix.
        assert row["figures_from"] == "service"
        for name in FIGURES:
            assert own[session_id][name] == row[name]
    assert len(rows[f"{run}-three"]["session_annotations"]) == 2
    assert rows[f"{run}-three"]["trace_store_figures"]["cost"] is not None


async def test_a_session_without_turns_has_the_figures_of_phoenix(
    phoenix: Phoenix, resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    session_id = f"{uuid4().hex[:8]}-theirs"
    agent = Agent(recorder.agent_id, recorder.caller, phoenix, to_us=False)
    await agent.chat(session_id, NOW, model="gpt-4o", tokens=(123, 45))
    await agent.arrived()
    await recorder.start(session_id)

    async with served(resources, phoenix, ada) as page:
        [row] = (await page())["sessions"]

    theirs = row["trace_store_figures"]
    assert row["figures_from"] == "trace_store"
    assert (row["num_traces"], row["token_usage"]["total"]) == (1, 168)
    assert row["cost_summary"]["total"] == {"cost": theirs["cost"], "currency": "USD"}
    assert theirs["cost"] > 0


async def test_hostile_ids_find_themselves_and_nothing_else(
    phoenix: Phoenix, resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    run = uuid4().hex[:8]
    # The last one is the name of a row inside Phoenix.
    ids = [f"{run} {each}" for each in HOSTILE[:-1]] + HOSTILE[-1:]
    agent = Agent(recorder.agent_id, recorder.caller, phoenix)
    for number, session_id in enumerate(ids):
        await agent.chat(session_id, NOW, tokens=(1000 + number, 1))
    await agent.arrived()

    async with served(resources, phoenix, ada) as page:
        rows = {row["session_id"]: row for row in (await page())["sessions"]}

    assert rows.keys() == set(ids)
    for number, session_id in enumerate(ids):
        assert rows[session_id]["trace_store"] == "found"
        assert rows[session_id]["token_usage"]["prompt"] == 1000 + number


async def test_a_session_in_somebody_else_s_project_adds_nothing(
    phoenix: Phoenix, resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    session_id = f"{uuid4().hex[:8]}-taken"
    stranger = Agent(f"somebody-{uuid4()}", recorder.caller, phoenix, to_us=False)
    await stranger.chat(session_id, NOW, words=("theirs", "theirs"))
    await stranger.arrived()
    await recorder.start(session_id)

    async with served(resources, phoenix, ada) as page:
        [row] = (await page())["sessions"]

    assert row["trace_store"] == "unknown_session"
    assert (row["num_traces"], row["first_input"]) == (0, None)


async def test_a_phoenix_that_stops_answering_doesn_t_hold_up_a_page(
    phoenix: Phoenix, resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    agent = Agent(recorder.agent_id, recorder.caller, phoenix)
    await agent.chat(f"{uuid4().hex[:8]}-held", NOW)
    await agent.arrived()

    async with served(resources, phoenix, ada) as page:
        [before] = (await page())["sessions"]
    async with served(resources, phoenix, ada, deadline_s=DEADLINE_S) as page:
        os.kill(phoenix.pid, signal.SIGSTOP)
        try:
            started = time.perf_counter()
            data = await page()
            took = time.perf_counter() - started
        finally:
            os.kill(phoenix.pid, signal.SIGCONT)

    assert before["trace_store"] == "found"
    assert [row["trace_store"] for row in data["sessions"]] == ["unavailable"]
    assert (data["total_agents"], data["successful_agents"]) == (1, 0)
    assert took < DEADLINE_S + BUSY_S


async def test_a_phoenix_that_wants_a_token(
    python_with_phoenix: Path,
    tmp_path: Path,
    resources: Resources,
    recorder: Recorder,
    ada: Caller,
    callers: Callers,
) -> None:
    secret = "s3cret-of-the-tests-and-nobody-else"
    with running_phoenix(python_with_phoenix, tmp_path, secret=secret) as phoenix:
        agent = Agent(recorder.agent_id, recorder.caller, phoenix)
        await agent.chat("guarded", NOW)
        await agent.arrived()
        said = []
        for token in (secret, "wrong", None):
            async with served(resources, phoenix, ada, token=token) as page:
                [row] = (await page())["sessions"]
                said.append(row["trace_store"])

    assert said == ["found", "unavailable", "unavailable"]
