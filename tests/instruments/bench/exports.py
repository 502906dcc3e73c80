"""Exports of an instrumented agent: each is a turn of a session of its own."""

import json
from typing import Any

from tests.instruments.bench.plan import Plan, Request
from tests.support.sessions.otlp.spans import PROTOBUF, TRACES, export, span

# More than are sent: a repeated one would change nothing.
EXPORTS = 400
QUESTION = "Which issues are open, and which of them are mine?"
ANSWER = "Two are open: the door of the shed, and the leak. The leak is yours."


def exports(agent_id: str, authorization: str) -> Plan:
    """Return exports in protobuf: an agent's run, with two model calls and a tool."""
    return Plan(
        {"Authorization": authorization, "Content-Type": PROTOBUF},
        [
            Request("POST", TRACES, _export(agent_id, trace))
            for trace in range(1, EXPORTS + 1)
        ],
    )


def _export(agent_id: str, trace: int) -> bytes:
    texts: dict[str, Any] = {"input.value": QUESTION, "output.value": ANSWER}
    spans = [
        span(1, trace=trace, took=9, **_named({**texts, "session.id": f"s-{trace}"})),
        span(2, 1, trace=trace, start=1, **_model_call(trace, 1)),
        span(
            *(3, 1),
            trace=trace,
            start=3,
            **_named({"openinference.span.kind": "TOOL", **texts}),
        ),
        span(4, 1, trace=trace, start=5, **_model_call(trace, 2)),
    ]
    return export(agent_id, *spans).SerializeToString()


def _model_call(trace: int, number: int) -> dict[str, Any]:
    usage = {
        "prompt_tokens": 1_200,
        "completion_tokens": 80,
        "total_tokens": 1_280,
        "prompt_tokens_details": {"cached_tokens": 1_000, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    answer = {
        "id": f"chatcmpl-{trace}-{number}",
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"message": {"role": "assistant", "content": ANSWER}}],
        "service_tier": "default",
        "usage": usage,
    }
    return _named(
        {
            "openinference.span.kind": "LLM",
            "llm.system": "openai",
            "llm.provider": "openai",
            "llm.model_name": "gpt-4o-mini-2024-07-18",
            "llm.invocation_parameters": '{"model": "gpt-4o-mini"}',
            "llm.token_count.prompt": 1_200,
            "llm.token_count.completion": 80,
            "llm.token_count.total": 1_280,
            "llm.token_count.prompt_details.cache_read": 1_000,
            "llm.token_count.prompt_details.audio": 0,
            "llm.token_count.completion_details.reasoning": 20,
            "llm.token_count.completion_details.audio": 0,
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": QUESTION,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": ANSWER,
            "input.mime_type": "application/json",
            "input.value": json.dumps({"messages": [{"content": QUESTION}]}),
            "output.mime_type": "application/json",
            "output.value": json.dumps(answer),
        }
    )


def _named(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name.replace(".", "__"): each for name, each in attributes.items()}
