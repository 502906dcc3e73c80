"""An instrumented agent that sends each trace to this service and to Phoenix."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Status, StatusCode, set_span_in_context

from tests.integration.phoenix.server import Phoenix
from tests.support.callers import Caller

POLL_S = 0.05
INGEST_TIMEOUT_S = 30.0


@dataclass(slots=True)
class Agent:
    """Sends from a thread: the service under test answers in this one."""

    agent_id: str
    caller: Caller
    phoenix: Phoenix
    to_us: bool = True
    sent: dict[str, int] = field(default_factory=dict)

    def provider(self) -> TracerProvider:
        made = TracerProvider(
            resource=Resource.create(
                {
                    "agent_runtime.agent_id": self.agent_id,
                    "openinference.project.name": self.agent_id,
                }
            )
        )
        targets = [(self.phoenix.traces_url, self.phoenix.headers)]
        if self.to_us:
            ours = str(self.caller.client.make_url("/v1/traces"))
            targets.append((ours, {"Authorization": f"Bearer {self.caller.token}"}))
        for endpoint, headers in targets:
            exporter = OTLPSpanExporter(endpoint=endpoint, headers=headers)
            made.add_span_processor(SimpleSpanProcessor(exporter))
        return made

    async def chat(
        self,
        session_id: str,
        start: datetime,
        *,
        took_ms: int = 1000,
        model: str | None = "gpt-4o-mini",
        tokens: tuple[int, int] = (2000, 300),
        words: tuple[str, str] = ("question", "answer"),
        error: str | None = None,
    ) -> None:
        """Have one exchange: a root, and a call of a model unless there is none."""
        await asyncio.to_thread(
            self._chat, session_id, start, took_ms, model, tokens, words, error
        )
        self.sent[session_id] = self.sent.get(session_id, 0) + 1

    def _chat(
        self,
        session_id: str,
        start: datetime,
        took_ms: int,
        model: str | None,
        tokens: tuple[int, int],
        words: tuple[str, str],
        error: str | None,
    ) -> None:
        provider = self.provider()
        tracer = provider.get_tracer("test")
        begin = int(start.timestamp()) * 10**9 + start.microsecond * 1000
        end = begin + took_ms * 10**6
        root = tracer.start_span("chat", start_time=begin)
        root.set_attributes(
            {
                "openinference.span.kind": "CHAIN",
                "session.id": session_id,
                "input.value": words[0],
                "output.value": words[1],
            }
        )
        if model is not None:
            call = tracer.start_span(
                "llm", context=set_span_in_context(root), start_time=begin
            )
            call.set_attributes(
                {
                    "openinference.span.kind": "LLM",
                    "llm.provider": "openai",
                    "llm.model_name": model,
                    "llm.token_count.prompt": tokens[0],
                    "llm.token_count.completion": tokens[1],
                    "llm.token_count.total": sum(tokens),
                }
            )
            call.end(end)
        if error is not None:
            root.set_status(Status(StatusCode.ERROR, error))
        root.end(end)
        provider.shutdown()

    async def arrived(self) -> None:
        """Wait until Phoenix has taken in what was sent: it answers before that."""
        deadline = time.monotonic() + INGEST_TIMEOUT_S
        for session_id, traces in self.sent.items():
            while await asyncio.to_thread(self._traces, session_id) < traces:
                assert time.monotonic() < deadline, session_id
                await asyncio.sleep(POLL_S)

    def _traces(self, session_id: str) -> int:
        found = self.phoenix.ask(
            "query($s: String!) { s: getProjectSessionById(sessionId: $s) { numTraces"
            " tokenUsage { total } } }",
            s=session_id,
        )["s"]
        return int(found["numTraces"]) if found else 0


async def annotated(phoenix: Phoenix, annotations: Sequence[dict[str, Any]]) -> None:
    path = "/v1/session_annotations?sync=true"
    await asyncio.to_thread(phoenix.post, path, {"data": list(annotations)})
