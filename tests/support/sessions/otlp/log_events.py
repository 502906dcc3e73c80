"""Log events of agent programs as they write them, and sending them."""

from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import Exported, nano, pairs, send
from tests.support.sessions.recording import Recorder

LOGS = "/v1/logs"
SESSION = "chat-1"


def claude(name: str, at: float, **attributes: Any) -> LogRecord:
    """Return an event of Claude Code, in the turn ``prompt_1`` of the session."""
    given = {
        "event.name": name,
        "session.id": SESSION,
        "prompt.id": "prompt-1",
        "anthropic.provider": "firstParty",
        "event.sequence": round(at * 1000),
        **{key.replace("__", "."): each for key, each in attributes.items()},
    }
    record = LogRecord(time_unix_nano=nano(at), observed_time_unix_nano=nano(at))
    record.body.string_value = f"claude_code.{name}"
    record.attributes.extend(
        pairs({key: each for key, each in given.items() if each is not None})
    )
    return record


def claude_call(at: float, prompt: int, output: int, **attributes: Any) -> LogRecord:
    """Return a model call of Claude Code that ended at a time, and took a second."""
    return claude(
        "api_request",
        at,
        **{
            "model": "claude-test",
            "input_tokens": prompt,
            "output_tokens": output,
            "duration_ms": 1000,
            **attributes,
        },
    )


def codex(name: str, at: float, **attributes: Any) -> LogRecord:
    """Return an event of Codex, which tells only when it was observed."""
    given = {
        "event.name": f"codex.{name}",
        "conversation.id": SESSION,
        "model": "gpt-test",
        **{key.replace("__", "."): each for key, each in attributes.items()},
    }
    record = LogRecord(observed_time_unix_nano=nano(at))
    record.attributes.extend(pairs(given))
    return record


def codex_call(at: float, prompt: int, output: int, **attributes: Any) -> LogRecord:
    """Return the end of a model call of Codex, which writes counts as text."""
    return codex(
        "sse_event",
        at,
        event__kind="response.completed",
        input_token_count=str(prompt),
        output_token_count=str(output),
        **attributes,
    )


def logs_export(agent_id: str | None, *records: LogRecord) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    if agent_id is not None:
        resource.resource.attributes.extend(pairs({"agent_runtime.agent_id": agent_id}))
    resource.scope_logs.add().log_records.extend(records)
    return request


async def send_logs(caller: Caller, agent_id: str | None, *records: Any) -> Exported:
    body = logs_export(agent_id, *records).SerializeToString()
    return await send(caller, body, to=LOGS)


async def report_logs(recorder: Recorder, *records: LogRecord) -> Exported:
    """Send log events of the recorder's agent."""
    return await send_logs(recorder.caller, recorder.agent_id, *records)
