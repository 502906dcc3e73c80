"""The AsyncAPI document of the topic."""

from typing import Any, Final

from projections.relay.public_event import PUBLIC_EVENTS, PublicEvent
from projections.relay.schemas import event_schema
from service import __version__

Schema = dict[str, Any]

DESCRIPTION: Final = """\
Everything that happens in an agent runtime, as it happened: the log of its events.

**Envelope.** CloudEvents 1.0 in Kafka's binary mode: attributes are headers that
begin with `ce_`, the value is the data as JSON.

**Once.** A consumer that reads with `isolation.level=read_committed` gets every event
exactly once, whatever crashed on the way.

**In order.** The key is the aggregate's id, so an aggregate's events are in order:
`ce_aggregateversion` is 1, 2, 3, ... without gaps. On each partition `ce_sequence`
ascends. Over all partitions every sequence from 1 on is there once.

**Versions.** `ce_type` ends with the version of the data. Within a version fields are
only added, and optional ones at that: ignore what you don't know.

**Size.** Data beyond 900 kB is not on the topic: `ce_dataref` says where it is.
"""

# Each attribute: its schema, and whether every message has it.
HEADERS: Final[dict[str, tuple[Schema, bool]]] = {
    "ce_specversion": ({"type": "string", "const": "1.0"}, True),
    "ce_id": (
        {
            "type": "string",
            "format": "uuid",
            "description": "The event's name, for ever: also on another topic.",
        },
        True,
    ),
    "ce_source": (
        {
            "type": "string",
            "format": "uri-reference",
            "description": "The log: /agent-runtime/ and its id.",
        },
        True,
    ),
    "ce_type": ({"type": "string"}, True),
    "ce_subject": (
        {
            "type": "string",
            "format": "uuid",
            "description": "The aggregate. Of a token, something that stands for it.",
        },
        True,
    ),
    "ce_time": (
        {
            "type": "string",
            "format": "date-time",
            "description": "When the event was recorded; ascends with the sequence.",
        },
        True,
    ),
    "ce_partitionkey": (
        {"type": "string", "description": "The subject, which is the record's key."},
        True,
    ),
    "ce_sequence": (
        {
            "type": "string",
            "pattern": "^[0-9]{20}$",
            "description": "The event's position in the log; the X-Event-Position of "
            "the HTTP API, padded so that texts compare as numbers do.",
        },
        True,
    ),
    "ce_aggregateversion": (
        {
            "type": "string",
            "pattern": "^[1-9][0-9]*$",
            "description": "Which version of the aggregate the event makes.",
        },
        True,
    ),
    "ce_logepoch": (
        {
            "type": "string",
            "format": "uuid",
            "description": "The log's epoch; the X-Log-Epoch of the HTTP API.",
        },
        True,
    ),
    "ce_actor": (
        {
            "type": "string",
            "description": "Id of the user who caused it; `system` for the service.",
        },
        True,
    ),
    "ce_traceparent": (
        {
            "type": "string",
            "description": "W3C trace context of the request, if it had one.",
        },
        False,
    ),
    "ce_dataref": (
        {
            "type": "string",
            "format": "uri-reference",
            "description": "Instead of a value: where the HTTP API has the event.",
        },
        False,
    ),
    "content-type": (
        {
            "type": "string",
            "const": "application/json",
            "description": "Absent together with the value.",
        },
        False,
    ),
}


CHECKPOINT: Final[Schema] = {
    "name": "checkpoint",
    "summary": "A signed head of the log: its size and the root of its Merkle tree.",
    "contentType": "text/plain; charset=utf-8",
    "payload": {
        "type": "string",
        "description": "A checkpoint as of c2sp.org/tlog-checkpoint, the same text as "
        "that of GET /api/audit/checkpoint.",
    },
    "bindings": {
        "kafka": {
            "key": {"type": "string", "format": "uuid", "description": "The log."},
            "bindingVersion": "0.5.0",
        }
    },
}


def asyncapi_document() -> Schema:
    """Describe the topic in AsyncAPI 3.0."""
    entries = list(PUBLIC_EVENTS.values())
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
                "messages": {
                    each.name: {"$ref": f"#/components/messages/{each.name}"}
                    for each in entries
                },
                "bindings": {
                    "kafka": {
                        "topicConfiguration": {"cleanup.policy": ["delete"]},
                        "bindingVersion": "0.5.0",
                    }
                },
            },
            "checkpoints": _checkpoints_channel(),
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
                "summary": "Publish signed heads of the log, of ascending sizes.",
            },
        },
        "components": {
            "messages": {each.name: _message(each) for each in entries}
            | {"checkpoint": CHECKPOINT},
            "messageTraits": {"cloudEvent": _envelope()},
        },
    }


def _checkpoints_channel() -> Schema:
    return {
        "address": "{topic}.audit-checkpoints",
        "title": "The topic of signed checkpoints, one partition",
        "parameters": {
            "topic": {"description": "The name of the event topic."},
        },
        "messages": {"checkpoint": {"$ref": "#/components/messages/checkpoint"}},
        "bindings": {
            "kafka": {
                "partitions": 1,
                "topicConfiguration": {
                    "cleanup.policy": ["delete"],
                    "retention.ms": -1,
                },
                "bindingVersion": "0.5.0",
            }
        },
    }


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


def _envelope() -> Schema:
    return {
        "contentType": "application/json",
        "headers": {
            "type": "object",
            "required": [name for name, (_, always) in HEADERS.items() if always],
            "properties": {name: schema for name, (schema, _) in HEADERS.items()},
        },
        "bindings": {
            "kafka": {
                "key": {
                    "type": "string",
                    "format": "uuid",
                    "description": "The subject.",
                },
                "bindingVersion": "0.5.0",
            }
        },
    }
