"""The AsyncAPI document of the event and checkpoint topics."""

from collections.abc import Mapping
from typing import Any, Final

from projections.relay.public_event import PublicEvent
from projections.relay.schemas import event_schema
from service import __version__

Schema = dict[str, Any]

DESCRIPTION: Final = """\
All events of an agent runtime's log.

**Envelope.** CloudEvents 1.0 in Kafka's binary mode: attributes are headers that
begin with `ce_`, the value is the data as JSON.

**Exactly once.** A consumer that reads with `isolation.level=read_committed` gets
every event exactly once, also after crashes.

**Order.** The key is the aggregate's id, so an aggregate's events are in order:
`ce_aggregateversion` is 1, 2, 3, ... without gaps. On each partition `ce_sequence`
ascends. Over all partitions every sequence from 1 on occurs once.

**Versions.** `ce_type` ends with the version of the data. Within a version only
optional fields are added: ignore unknown fields.

**Size.** Data over 900 kB is not on the topic: `ce_dataref` is its
path in the HTTP API.
"""
BINDING_VERSION: Final = "0.5.0"


def _text(description: str | None = None, **keywords: str) -> Schema:
    described = {"description": description} if description else {}
    return {"type": "string", **keywords, **described}


HEADERS: Final[dict[str, Schema]] = {
    "ce_specversion": _text(const="1.0"),
    "ce_id": _text(
        "The event's permanent id, the same on every topic; the id of an event that "
        "was lost in a restore is not used again.",
        format="uuid",
    ),
    "ce_source": _text("The log: /agent-runtime/ and its id.", format="uri-reference"),
    "ce_type": _text(),
    "ce_subject": _text(
        "The aggregate's id; for a token, an id derived from it.", format="uuid"
    ),
    "ce_time": _text(
        "When the event was recorded; ascends with the sequence.", format="date-time"
    ),
    "ce_partitionkey": _text("The subject, which is the record's key."),
    "ce_sequence": _text(
        "The event's position in the log, which is X-Event-Position in the HTTP API; "
        "padded so that text order is numeric order.",
        pattern="^[0-9]{20}$",
    ),
    "ce_aggregateversion": _text(
        "The aggregate's version after the event.", pattern="^[1-9][0-9]*$"
    ),
    "ce_logepoch": _text(
        "The log's epoch, which is X-Log-Epoch in the HTTP API.", format="uuid"
    ),
    "ce_actor": _text("Id of the user who caused it; `system` for the service."),
    "ce_traceparent": _text("W3C trace context of the request, if it had one."),
    "ce_dataref": _text(
        "The event's path in the HTTP API, instead of a value.", format="uri-reference"
    ),
    "content-type": _text("Absent if there is no value.", const="application/json"),
}
OPTIONAL_HEADERS: Final = ("ce_traceparent", "ce_dataref", "content-type")


def asyncapi_document(public: Mapping[str, PublicEvent]) -> Schema:
    """Return the description of the topics in AsyncAPI 3.0."""
    entries = list(public.values())
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Agent Runtime events",
            "version": __version__,
            "description": DESCRIPTION,
        },
        "defaultContentType": "application/json",
        "channels": {
            "events": {
                "address": "{topic}",
                "title": "The event topic",
                "parameters": {
                    "topic": {
                        "description": "The setting AGENT_RUNTIME_KAFKA_TOPIC.",
                        "default": "agent-runtime.events",
                    }
                },
                "messages": {each.name: _message_ref(each.name) for each in entries},
                "bindings": _kafka(topicConfiguration={"cleanup.policy": ["delete"]}),
            },
            "checkpoints": {
                "address": "{topic}.audit-checkpoints",
                "title": "The topic of signed checkpoints, one partition",
                "parameters": {"topic": {"description": "The event topic's name."}},
                "messages": {"checkpoint": _message_ref("checkpoint")},
                "bindings": _kafka(
                    partitions=1,
                    topicConfiguration={
                        "cleanup.policy": ["delete"],
                        "retention.ms": -1,
                    },
                ),
            },
        },
        "operations": {
            "publishEvents": {
                "action": "send",
                "channel": {"$ref": "#/channels/events"},
                "summary": "Publish every event of the log once, in transactions.",
            },
            "publishCheckpoints": {
                "action": "send",
                "channel": {"$ref": "#/channels/checkpoints"},
                "summary": "Publish signed checkpoints of the log, in ascending size.",
            },
        },
        "components": {
            "messages": {
                **{each.name: _message(each) for each in entries},
                "checkpoint": _checkpoint(),
            },
            "messageTraits": {"cloudEvent": _envelope()},
        },
    }


def _kafka(**binding: Any) -> Schema:
    return {"kafka": {**binding, "bindingVersion": BINDING_VERSION}}


def _message_ref(name: str) -> Schema:
    return {"$ref": f"#/components/messages/{name}"}


def _message(entry: PublicEvent) -> Schema:
    payload = {
        keyword: value
        for keyword, value in event_schema(entry).items()
        if keyword not in ("$schema", "$id")
    }
    return {
        "name": entry.type,
        "summary": entry.meaning,
        "traits": [{"$ref": "#/components/messageTraits/cloudEvent"}],
        "payload": payload,
    }


def _checkpoint() -> Schema:
    return {
        "name": "checkpoint",
        "summary": "A signed checkpoint: size and root of the log's Merkle tree.",
        "contentType": "text/plain; charset=utf-8",
        "payload": _text(
            "A checkpoint as of c2sp.org/tlog-checkpoint, the same text as that of GET "
            "/api/audit/checkpoint."
        ),
        "bindings": _kafka(key=_text("The log's id.", format="uuid")),
    }


def _envelope() -> Schema:
    return {
        "contentType": "application/json",
        "headers": {
            "type": "object",
            "required": [name for name in HEADERS if name not in OPTIONAL_HEADERS],
            "properties": HEADERS,
        },
        "bindings": _kafka(key=_text("The subject.", format="uuid")),
    }
