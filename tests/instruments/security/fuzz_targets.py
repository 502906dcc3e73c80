"""What reads bytes of strangers, each with all that it may raise.

A target takes any bytes and says whether the reader took them. It raises nothing,
unless the reader did what it promises not to.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from agent_runtime_client.kafka.errors import ForeignTopicError
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.note import NoteError, VerifierKey, notes_in, open_note
from projections.relay.kafka.topic_state import PositionRecord
from projections.sessions.cursor import cursor_from_text
from service.errors import (
    InvalidRequestError,
    MalformedRequestError,
    ServiceError,
)
from service.http.json_body import parse_json
from service.http.json_bounds import JSON_DEPTH_MAX
from service.keys.root_key import KeyRingError, LocalRootKeys
from service.price_catalog.bodies import PriceBody
from service.price_catalog.imports.litellm.importer import (
    InvalidPriceSourceError,
    import_litellm,
)
from service.sessions.otlp.body import from_json, from_protobuf
from service.sessions.otlp.conventions import SpanError, reported_span
from service.sessions.otlp.logs.events import add_spans, agent_events
from service.sessions.otlp.signals import LOGS, TRACES, Signal
from service.tool_rules.body import BulkToolUpdate
from service.tool_rules.glob import matches
from tests.unit.tool_rules.naive_glob import matches_by_definition

GLOB_CHARACTERS_MAX = 24


def rules_body(data: bytes) -> bool:
    return _json_body(data, BulkToolUpdate)


def price_body(data: bytes) -> bool:
    return _json_body(data, PriceBody)


def _json_body(data: bytes, model: type[Any]) -> bool:
    """What is taken is JSON to anybody: no key twice, no U+0000, not too deep."""
    try:
        parse_json(data, model)
    except (InvalidRequestError, MalformedRequestError):
        return False
    taken = json.loads(data, object_pairs_hook=_each_once)
    assert _depth(taken) <= JSON_DEPTH_MAX
    assert "\0" not in str(taken)
    return True


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        return 1 + max(map(_depth, inner), default=0)
    return 0


def otlp_json(data: bytes) -> bool:
    return _spans(from_json, data)


def otlp_protobuf(data: bytes) -> bool:
    return _spans(from_protobuf, data)


def _spans(read: Callable[[bytes, Signal], Any], data: bytes) -> bool:
    """Read bytes as spans, and as the log events that spans are made of."""
    taken = False
    with contextlib.suppress(ServiceError):
        taken = _are_read(read(data, TRACES).resource_spans)
    with contextlib.suppress(ServiceError):
        for resource in read(data, LOGS).resource_logs:
            events = [event.in_turn(event.trace_id) for event in agent_events(resource)]
            spans = ResourceSpans()
            add_spans(spans, resource, events)
            taken = _are_read([spans]) or taken
    return taken


def _are_read(resources: Iterable[ResourceSpans]) -> bool:
    taken = False
    for resource in resources:
        for scope in resource.scope_spans:
            for span in scope.spans:
                with contextlib.suppress(SpanError):
                    reported_span(span)
                    taken = True
    return taken


def session_cursor(data: bytes) -> bool:
    """A cursor that is taken says again what it said."""
    try:
        cursor = cursor_from_text(data.decode(errors="surrogateescape"))
    except ValueError:
        return False
    assert cursor_from_text(cursor.to_text()) == cursor
    return True


def signed_note(data: bytes) -> bool:
    key, _, note = data.decode(errors="replace").partition("\n")
    try:
        open_note(note, [VerifierKey.parse(key)])
    except NoteError:
        return False
    return True


def checkpoints(data: bytes) -> bool:
    taken = False
    for note in notes_in(data.decode(errors="replace")):
        with contextlib.suppress(NoteError):
            Checkpoint.parse(note)
            taken = True
    return taken


def relay_position(data: bytes) -> bool:
    key, _, value = data.partition(b"\n")
    try:
        PositionRecord.parse(key, value)
    except ForeignTopicError:
        return False
    return True


def price_list(data: bytes) -> bool:
    try:
        return bool(import_litellm(data).models)
    except InvalidPriceSourceError:
        return False


def root_keys(data: bytes) -> bool:
    try:
        LocalRootKeys.parse(data.decode(errors="surrogateescape"))
    except KeyRingError:
        return False
    return True


def tool_patterns(data: bytes) -> bool:
    """A pattern matches what it does by its definition."""
    pattern, _, name = data.decode(errors="replace").partition("\n")
    pattern, name = pattern[:GLOB_CHARACTERS_MAX], name[:GLOB_CHARACTERS_MAX]
    assert matches(pattern, name) == matches_by_definition(pattern, name)
    return True


TARGETS: Mapping[str, Callable[[bytes], bool]] = {
    each.__name__: each
    for each in (
        rules_body,
        price_body,
        otlp_json,
        otlp_protobuf,
        session_cursor,
        signed_note,
        checkpoints,
        relay_position,
        price_list,
        root_keys,
        tool_patterns,
    )
}
