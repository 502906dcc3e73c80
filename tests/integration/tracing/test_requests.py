"""Spans of requests and of their commands' decision, queue and commit."""

import asyncio
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from projections.engine import snapshot
from service.event_log.writer import Writer
from service.resources import Resources
from tests.integration.tracing.conftest import Traced, tracing
from tests.support.reading import read_events
from tests.support.waiting import until

CONNECTORS = "/api/mcp/connectors"
TRACKER = {"name": "Issue tracker", "url": "https://tracker.example/mcp"}
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
REGISTER, COMMIT = f"POST {CONNECTORS}", "SELECT events.append"


def context_of(span: ReadableSpan) -> SpanContext:
    context: SpanContext | None = span.context
    assert context is not None
    return context


def span_ids(contexts: Iterable[SpanContext]) -> set[int]:
    return {each.span_id for each in contexts}


def links_of(span: ReadableSpan) -> set[int]:
    return span_ids(link.context for link in span.links)


async def metadata_at(resources: Resources, position: int) -> Any:
    [recorded] = await read_events(
        resources.log, after=position - 1, upto=position, limit=1
    )
    return recorded.metadata


async def test_a_command_is_a_request_a_decision_a_wait_and_a_commit(
    traced: Traced, resources: Resources
) -> None:
    ada = await traced.callers.user("ada")

    reply = await ada.post(
        CONNECTORS, TRACKER, X_Request_Id="of-ada", traceparent=TRACEPARENT
    )

    decide, queue, commit, request = sorted(
        traced.spans,
        key=lambda span: ["decide", "queue", COMMIT, REGISTER].index(span.name),
    )
    assert dict(request.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": CONNECTORS,
        "url.scheme": "http",
        "http.response.status_code": 201,
        "agent_runtime.request.id": "of-ada",
    }
    assert request.kind is SpanKind.SERVER
    assert request.parent is not None
    assert f"{request.parent.trace_id:032x}" == TRACE
    assert f"{request.parent.span_id:016x}" == PARENT
    for child in (decide, queue, commit):
        assert child.parent == context_of(request)
        assert child.status.status_code is StatusCode.UNSET
    assert dict(commit.attributes or {}) == {
        "db.system.name": "postgresql",
        "db.stored_procedure.name": "events.append",
        "db.query.summary": COMMIT,
        "agent_runtime.commit.commands": 1,
    }
    assert commit.kind is SpanKind.CLIENT
    assert links_of(commit) == {context_of(request).span_id}
    assert links_of(queue) == {context_of(commit).span_id}
    metadata = await metadata_at(resources, reply.position)
    assert metadata["traceparent"] == (
        f"00-{TRACE}-{context_of(request).span_id:016x}-01"
    )


async def test_a_commit_is_linked_to_every_request_whose_command_it_takes(
    traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await traced.callers.user("ada")
    commit = Writer._commit  # noqa: SLF001
    may_commit = asyncio.Event()

    async def slow_commit(*arguments: Any) -> None:
        await may_commit.wait()
        await commit(*arguments)

    monkeypatch.setattr(Writer, "_commit", slow_commit)
    requests = [
        asyncio.create_task(ada.post(CONNECTORS, {**TRACKER, "name": f"Tracker {n}"}))
        for n in range(5)
    ]
    await until(lambda: len(traced.named("decide")) >= len(requests))
    may_commit.set()
    await asyncio.gather(*requests)

    commits = traced.named(COMMIT)
    queues = {context_of(span).span_id: span for span in traced.named("queue")}
    assert len(queues) == len(requests)
    assert any(len(each.links) > 1 for each in commits)
    # Each request is taken once, and its wait names the commit that took it.
    assert sorted(link.context.span_id for each in commits for link in each.links) == (
        sorted(span_ids(map(context_of, traced.named(REGISTER))))
    )
    for queue in queues.values():
        assert queue.parent is not None
        [taken_by] = queue.links
        [by] = [
            each
            for each in commits
            if context_of(each).span_id == taken_by.context.span_id
        ]
        assert queue.parent.span_id in links_of(by)


async def test_a_refusal_is_no_error_of_the_service(traced: Traced) -> None:
    ada = await traced.callers.user("ada")

    await ada.post(f"{CONNECTORS}/{uuid4()}/grants/public")

    decide, request = traced.spans
    assert (decide.attributes or {})["error.type"] == "not_found"
    assert (request.attributes or {})["http.response.status_code"] == 404
    assert decide.status.status_code is StatusCode.UNSET
    assert request.status.status_code is StatusCode.UNSET


async def test_a_failure_is_an_error_without_its_text(traced: Traced) -> None:
    ada = await traced.callers.user("ada")

    await ada.get("/test/broken")

    [request] = traced.spans
    assert request.status.status_code is StatusCode.ERROR
    assert request.status.description is None
    assert (request.attributes or {})["error.type"] == "500"
    assert not request.events


@pytest.mark.parametrize(
    "given",
    [
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        f"00-{TRACE}-0000000000000000-01",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
        "nonsense",
        "0" * 4000,
    ],
)
async def test_a_traceparent_that_is_none_begins_a_trace(
    traced: Traced, given: str
) -> None:
    ada = await traced.callers.user("ada")

    reply = await ada.get("/api/users/me", traceparent=given, tracestate="a=b")

    [request] = traced.spans
    assert reply.status == 200
    assert request.parent is None
    assert not context_of(request).trace_state


@pytest.mark.parametrize(
    "tracestate",
    ["a=b,a=c", "=,=,=", "x" * 4000, ",".join(f"k{n}=v" for n in range(99))],
)
async def test_a_hostile_tracestate_and_baggage_are_answered_as_any_other(
    traced: Traced, tracestate: str
) -> None:
    ada = await traced.callers.user("ada")

    reply = await ada.get(
        "/api/users/me",
        traceparent=TRACEPARENT,
        tracestate=tracestate,
        baggage=f"user=mallory,{'b' * 3000}=%zz",
    )

    [request] = traced.spans
    assert reply.status == 200
    assert f"{context_of(request).trace_id:032x}" == TRACE
    assert len(context_of(request).trace_state) <= 32
    assert "mallory" not in request.to_json()


async def test_a_client_decides_whether_its_trace_is_sampled(
    traced: Traced, resources: Resources
) -> None:
    ada = await traced.callers.user("ada")
    unsampled = f"00-{TRACE}-{PARENT}-00"

    reply = await ada.post(CONNECTORS, TRACKER, traceparent=unsampled)

    assert traced.spans == []
    metadata = await metadata_at(resources, reply.position)
    assert metadata["traceparent"] == unsampled


async def test_only_sampled_requests_leave_a_trace(
    resources: Resources,
) -> None:
    async with tracing(resources, ALWAYS_OFF) as traced:
        ada = await traced.callers.user("ada")
        reply = await ada.post(CONNECTORS, TRACKER)

    assert traced.spans == []
    assert "traceparent" not in await metadata_at(resources, reply.position)


async def test_probes_have_no_spans(traced: Traced) -> None:
    for path in ("/livez", "/readyz", "/metrics"):
        await traced.client.get(path)
    await traced.client.get("/no/such/path")

    [request] = traced.spans
    assert request.name == "GET"
    assert "http.route" not in (request.attributes or {})


async def test_paths_queries_and_names_are_in_no_span(
    traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No follower runs, so reads would wait for the caller's own write in vain.
    monkeypatch.setattr(snapshot, "OWN_WRITE_TIMEOUT_S", 0)
    mark = "canary8d1f7c2e"
    ada = await traced.callers.user(mark)
    secret = {"name": mark, "value": mark}

    await ada.post("/api/secrets", secret)
    await ada.get(f"/api/secrets/{mark}")
    await ada.get(f"/api/secrets?{mark}={mark}")
    await ada.post(CONNECTORS, {**TRACKER, "name": mark}, Idempotency_Key=mark)
    await ada.call(mark.upper(), CONNECTORS, User_Agent=mark, baggage=f"{mark}={mark}")
    await traced.client.get(f"/{mark}", headers={"Authorization": mark})

    text = "".join(span.to_json() for span in traced.spans)
    assert traced.named("GET /api/secrets/{name}")
    assert mark not in text
    assert mark.upper() not in text
    assert str(ada.token) not in text
    assert str(ada.user_id) not in text
