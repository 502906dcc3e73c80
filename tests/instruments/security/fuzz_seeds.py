"""Bytes that each reader takes: what is found near them is worth finding."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from agent_runtime_client.proofs.note import VerifierKey
from projections.audit.proofs.sign import sign_note
from projections.relay.kafka.topic_state import PositionRecord
from projections.sessions.cursor import Cursor

ID = UUID("9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11")
KEY = base64.b64encode(b"k" * 32)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PRICE = {
    "input_price_per_1m": "2.50",
    "output_price_per_1m": "10",
    "currency": "USD",
    "effective_from": "2026-03-01T12:00:00Z",
}
SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "name": "chat",
    "kind": 3,
    "startTimeUnixNano": "1772366400000000000",
    "endTimeUnixNano": "1772366401000000000",
    "status": {"code": 2, "message": "no"},
    "attributes": [
        {"key": "session.id", "value": {"stringValue": "s-1"}},
        {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}},
        {"key": "llm.token_count.prompt", "value": {"intValue": "12"}},
        {"key": "gen_ai.usage.output_tokens", "value": {"intValue": 3}},
        {
            "key": "gen_ai.input.messages",
            "value": {"stringValue": '[{"role": "user"}]'},
        },
        {"key": "a", "value": {"arrayValue": {"values": [{"doubleValue": 1.5}]}}},
    ],
}


def _rules() -> bytes:
    rule = {"connector_id": str(ID), "tool_pattern": "a.*", "stance": "ask"}
    return orjson.dumps({"rules": [rule]})


def _notes() -> bytes:
    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    key = VerifierKey("log.example", private.public_key().public_bytes_raw())
    root = base64.b64encode(bytes(32)).decode()
    note = sign_note(f"log.example\n3\n{root}\n", "log.example", private)
    return f"{key}\n{note}".encode()


def _position() -> bytes:
    record = PositionRecord(
        log_id=str(ID),
        log_epoch=str(ID),
        relay_id=str(ID),
        position=3,
        tails={0: 3},
        event_id=str(ID),
        at=NOON,
    )
    return record.key + b"\n" + record.value


def _cursor() -> bytes:
    cursor = Cursor(started_at=NOON, id=ID, position=3, window_start=NOON)
    return cursor.to_text().encode()


def _price_list() -> bytes:
    entry = {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05,
        "cache_read_input_token_cost": 1.25e-06,
    }
    return orjson.dumps({"gpt-4o": entry, "sample_spec": {}})


EXPORT = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}


def _protobuf() -> bytes:
    export = ExportTraceServiceRequest()
    span = export.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = bytes(15) + b"1", b"12345678", "chat"
    span.start_time_unix_nano = 1772366400000000000
    span.end_time_unix_nano = 1772366401000000000
    pair = span.attributes.add()
    pair.key = "session.id"
    pair.value.string_value = "s-1"
    return bytes(export.SerializeToString())


SEEDS: Mapping[str, Sequence[bytes]] = {
    "rules_body": [_rules(), b'{"rules": []}'],
    "price_body": [orjson.dumps(PRICE)],
    "otlp_json": [orjson.dumps(EXPORT)],
    "otlp_protobuf": [_protobuf()],
    "session_cursor": [_cursor()],
    "signed_note": [_notes()],
    "checkpoints": [_notes().partition(b"\n")[2]],
    "relay_position": [_position()],
    "price_list": [_price_list()],
    "root_keys": [b"k1:" + KEY + b",k2:" + KEY],
    "tool_patterns": [b"a.*b?\na.xbc", b"**?*\nab", b"*aab*?\naaab"],
}
