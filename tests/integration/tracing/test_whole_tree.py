"""One write as a receiver sees it, from real processes and a real broker."""

import asyncio
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.gateway.served import Api, new_session
from tests.support.harness.service import serving
from tests.support.kafka.fixtures import new_topic
from tests.support.kafka.reading import read_all
from tests.support.otlp_receiver import Receiver, attributes, receiver
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CONNECTORS = "/api/mcp/connectors"
REQUEST, COMMIT = f"POST {CONNECTORS}", "SELECT events.append"
FOLLOWERS = ("follower connectors", "follower audit_trail")


@pytest.mark.kafka
async def test_a_write_is_traced_from_the_request_to_kafka(
    tmp_path: Path, bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that this test doesn't wait for full batches.
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    topic = (await new_topic(bootstrap)).topic
    options = ["--data-dir", str(tmp_path / "data")]
    options += ["--kafka", bootstrap, "--kafka-topic", topic]
    options += ["--kafka-replication", "1"]
    async with receiver() as received, new_session() as http:
        options += ["--otlp-endpoint", received.url]
        service = serving(*options, log=tmp_path / "log")
        await asyncio.to_thread(service.start)
        try:
            await asyncio.to_thread(service.wait_until_ready)
            admin = Api(http, service.url, service.admin_token)
            tracker = {"name": "Tracker", "url": "https://tracker.example/mcp"}
            written = await admin.do(
                "POST", CONNECTORS, tracker, traceparent=f"00-{TRACE}-{PARENT}-01"
            )
            names = {REQUEST, "decide", "queue", COMMIT, f"send {topic}", *FOLLOWERS}
            await until(lambda: names <= by_name(received).keys(), timeout_s=300)
        finally:
            await asyncio.to_thread(service.stop)
    [record] = [
        each
        for each in await asyncio.to_thread(read_all, bootstrap, topic)
        if each.position == written.position
    ]

    spans = by_name(received)
    request = spans[REQUEST]
    assert request.parent_span_id.hex() == PARENT
    for name in names - {REQUEST}:
        assert spans[name].parent_span_id == request.span_id, name
    for name in names - {REQUEST, "decide", "queue"}:
        assert [link.span_id for link in spans[name].links] == [request.span_id], name
    assert [link.span_id for link in spans["queue"].links] == [spans[COMMIT].span_id]
    sent = attributes(spans[f"send {topic}"])
    assert sent == {
        "messaging.system": "kafka",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": topic,
        "messaging.batch.message_count": sent["messaging.batch.message_count"],
        "agent_runtime.log.position": written.position,
    }
    for name in FOLLOWERS:
        assert attributes(spans[name])["agent_runtime.log.position"] == written.position
    assert record.headers["ce_traceparent"].decode() == (
        f"00-{TRACE}-{request.span_id.hex()}-01"
    )


def by_name(received: Receiver) -> dict[str, Span]:
    """Return the spans of the client's trace; each name is there once."""
    found = [span for span in received.spans if span.trace_id.hex() == TRACE]
    spans = {span.name: span for span in found}
    assert len(spans) == len(found)
    return spans
