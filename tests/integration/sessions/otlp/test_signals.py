"""Each signal has its address: another one is refused by what is wrong."""

import json
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from tests.support.callers import Callers
from tests.support.sessions.otlp.log_events import (
    claude,
    claude_call,
    logs_export,
)
from tests.support.sessions.otlp.spans import export, llm, nano, send, span
from tests.support.sessions.recording import Recorder

JSON = "application/json"


def metrics_export() -> ExportMetricsServiceRequest:
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add()
    metric.name, metric.description, metric.unit = "cost.usage", "What it cost", "USD"
    point = metric.sum.data_points.add()
    point.time_unix_nano, point.as_double = nano(0), 0.5
    return request


def bodies(agent_id: str) -> dict[str, tuple[str, bytes]]:
    """Return a request of each signal, by its address, and what it has."""
    spans = export(agent_id, span(1, session__id="chat"), llm(2, 1, 5, 1))
    events = logs_export(agent_id, claude("user_prompt", 0), claude_call(1, 5, 1))
    return {
        "/v1/traces": ("spans", spans.SerializeToString()),
        "/v1/logs": ("log records", events.SerializeToString()),
        "/v1/metrics": ("metrics", metrics_export().SerializeToString()),
    }


@pytest.mark.parametrize("address", ["/v1/traces", "/v1/logs", "/v1/metrics"])
async def test_a_signal_at_the_address_of_another_is_told_its_own(
    recorder: Recorder, address: str
) -> None:
    for own, (name, body) in bodies(recorder.agent_id).items():
        sent = await send(recorder.caller, body, to=address)

        if own == address:
            assert sent.status == 200
            continue
        assert sent.status == 400
        told = Status.FromString(sent.body).message
        assert told == f"the body has {name}: send them to {own}"


@pytest.mark.parametrize(
    ("address", "body", "told"),
    [
        (
            "/v1/traces",
            {"resourceLogs": []},
            "the body has log records: send them to /v1/logs",
        ),
        (
            "/v1/logs",
            {"resource_spans": []},
            "the body has spans: send them to /v1/traces",
        ),
        (
            "/v1/logs",
            {"resourceMetrics": []},
            "the body has metrics: send them to /v1/metrics",
        ),
        (
            "/v1/traces",
            {"resource_spans": []},
            (
                "OTLP's JSON has names in lowerCamelCase: resourceSpans, not"
                " resource_spans"
            ),
        ),
        (
            "/v1/traces",
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"trace_id": "1" * 32}]}]}]},
            "OTLP's JSON has names in lowerCamelCase: traceId, not trace_id",
        ),
        (
            "/v1/traces",
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "AA+/=="}]}]}]},
            "OTLP's JSON has ids in hexadecimal, not base64",
        ),
        (
            "/v1/logs",
            {"resourceLogs": [{"scope_logs": []}]},
            "OTLP's JSON has names in lowerCamelCase: scopeLogs, not scope_logs",
        ),
        (
            "/v1/metrics",
            {"resourceMetrics": 5},
            "the body is not an ExportMetricsServiceRequest in OTLP's JSON encoding",
        ),
    ],
)
async def test_json_is_refused_by_what_is_wrong(
    recorder: Recorder, address: str, body: Any, told: str
) -> None:
    sent = await send(
        recorder.caller, json.dumps(body).encode(), to=address, Content_Type=JSON
    )

    assert (sent.status, json.loads(sent.body)["message"]) == (400, told)


async def test_names_of_later_versions_are_ignored(recorder: Recorder) -> None:
    body = {"resourceLogs": [{"entity_refs": [], "later_field": 1}], "later_too": {}}

    sent = await send(
        recorder.caller, json.dumps(body).encode(), to="/v1/logs", Content_Type=JSON
    )

    assert (sent.status, sent.body) == (200, b"{}")


@pytest.mark.parametrize("content_type", ["application/x-protobuf", JSON])
async def test_metrics_are_taken_and_not_kept(
    recorder: Recorder, callers: Callers, content_type: str
) -> None:
    body, answer = metrics_export().SerializeToString(), b""
    if content_type == JSON:
        body, answer = json.dumps(MessageToDict(metrics_export())).encode(), b"{}"
    asked: Any = {"to": "/v1/metrics", "Content_Type": content_type}

    sent = await send(recorder.caller, body, **asked)
    nobody = await send(callers.anonymous(), body, **asked)

    assert (sent.status, sent.body) == (200, answer)
    assert nobody.status == 401
