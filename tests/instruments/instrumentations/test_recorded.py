"""Recordings of real instrumentations: the session has what the provider reported.

With one instrumentation, and with two layers of them: each token counts once. What
they write otherwise is in ``KNOWN_DIFFERENCES``, and in docs/costs.md.
"""

import json
from itertools import count
from typing import Any

import pytest

from tests.instruments.instrumentations.expected import (
    PRICES,
    expected_session,
    expected_turn,
)
from tests.instruments.instrumentations.provider import ANSWERS
from tests.instruments.instrumentations.record import RECORDED, spans_of
from tests.instruments.instrumentations.scenarios import SCENARIOS, Scenario
from tests.support.callers import Caller, Callers
from tests.support.sessions.otlp.spans import send, session
from tests.support.sessions.recording import Recorder

CLIENTS = sorted({scenario.client for scenario in SCENARIOS})
JSON = "application/json"
# What an instrumentation doesn't tell, or tells otherwise than the provider.
_NO_STREAMED_TEXT = {"output"}
_OUTPUT_OF_STREAM_PLUS_1 = {"completion", "cost"}
_NO_CACHE_WRITES = {"cache_creation", "cost"}
KNOWN_DIFFERENCES = {
    # A raw stream of events: its text isn't recorded.
    "anthropic-anthropic": _NO_STREAMED_TEXT,
    # It adds the output tokens of the stream's first event to those of the last one.
    "anthropic-openllmetry_anthropic": _OUTPUT_OF_STREAM_PLUS_1,
    "anthropic-anthropic-openllmetry_anthropic": _OUTPUT_OF_STREAM_PLUS_1,
    "anthropic-openinference_anthropic-openllmetry_anthropic": _OUTPUT_OF_STREAM_PLUS_1,
    "anthropic-openllmetry_anthropic-opentelemetry_anthropic": _OUTPUT_OF_STREAM_PLUS_1,
    # It writes 0 for cache writes of a certain duration, as all are by now.
    "langchain_anthropic-openllmetry_langchain": _NO_CACHE_WRITES,
    "langchain_anthropic-openllmetry_langchain-openllmetry_anthropic": _NO_CACHE_WRITES,
}


@pytest.fixture
async def prices(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    for provider in {provider for provider, _ in PRICES.values()}:
        body = {"key": provider, "display_name": provider}
        assert (await root.post("/api/llm-router/providers", body)).status == 201
    for model, (provider, amounts) in PRICES.items():
        reply = await root.post(
            "/api/llm-router/prices",
            {
                "provider": provider,
                "model": model,
                **{f"{kind}_price_per_1m": price for kind, price in amounts.items()},
                "effective_from": "2026-01-01T00:00:00Z",
            },
        )
        assert reply.status == 201, reply.data


def recorded(scenario: Scenario, agent_id: str, number: int) -> bytes:
    """Return a recording as the request of an exporter, as a session of its own."""
    export = json.loads((RECORDED / f"{scenario.name}.json").read_text())["export"]
    for resource in export["resourceSpans"]:
        for pair in resource["resource"]["attributes"]:
            if pair["key"] == "agent_runtime.agent_id":
                pair["value"]["stringValue"] = agent_id
    for span in spans_of(export):
        span["traceId"] = f"{number:08x}{span['traceId'][8:]}"
        for pair in span.get("attributes", ()):
            if pair["key"] == "session.id":
                pair["value"]["stringValue"] = f"chat-{number}"
    return json.dumps(export).encode()


@pytest.mark.parametrize("observed", CLIENTS)
async def test_a_session_has_what_the_provider_reported(
    observed: str, prices: None, recorder: Recorder, ada: Caller
) -> None:
    wrong: dict[str, Any] = {}
    scenarios = [each for each in SCENARIOS if each.client == observed]
    for number, scenario in zip(count(1), scenarios, strict=False):
        body = recorded(scenario, recorder.agent_id, number)
        reply = await send(recorder.caller, body, Content_Type=JSON)
        assert reply.status == 200, reply.body
        found = await session(ada, f"chat-{number}", [reply])
        differences = [
            expected_turn(scenario, question).differences(turn)
            for question, turn in zip(ANSWERS, found["turns"], strict=True)
        ]
        whole = {
            "token_usage": found["token_usage"],
            "cost": found["cost_summary"]["total"]["cost"],
            "input": found["first_input"],
            "output": found["last_output"],
        }
        differences.append(expected_session(scenario).differences(whole))
        differing = {name for found in differences for name in found}
        if differing != KNOWN_DIFFERENCES.get(scenario.name, set()):
            wrong[scenario.name] = differences

    assert wrong == {}
