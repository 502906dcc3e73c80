"""What works without a proxy works through each one, set up as documented."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from http.client import HTTPSConnection
from pathlib import Path

import httpx
import httpx2
import orjson
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

from agent_runtime_client import AsyncAgentRuntime
from tests.integration.proxies.programs import Proxy
from tests.support.console.browser.service import DemoData
from tests.support.waiting import until, until_blocking

pytestmark = pytest.mark.thorough

# An address of this machine that isn't among the trusted proxies.
CLIENT = "127.0.0.2"
SPANS = 512
TEXT_BYTES = 4096


@pytest.fixture
async def runtime(proxy: Proxy, demo: DemoData) -> AsyncIterator[AsyncAgentRuntime]:
    async with (
        httpx.AsyncClient(verify=proxy.tls) as http,
        AsyncAgentRuntime(proxy.url, demo.tokens["admin"], http=http) as runtime,
    ):
        yield runtime


async def test_the_live_stream_brings_each_entry_as_it_comes(
    runtime: AsyncAgentRuntime,
) -> None:
    async with runtime.audit.stream() as stream:
        following = asyncio.ensure_future(anext(stream))
        await until(lambda: stream.position is not None)
        for number in range(3):
            made = await runtime.agents.create(f"agent {number}")

            entry = await following
            assert entry.position == made.response.position
            following = asyncio.ensure_future(anext(stream))
        following.cancel()


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_an_agent_calls_tools_by_mcp(
    proxy: Proxy, demo: DemoData, mode: str
) -> None:
    headers = {"Authorization": f"Bearer {demo.agent_token}"}
    url = f"{proxy.url}/mcp/agents/{demo.agent_id}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, verify=proxy.tls) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        listed = await client.list_tools()
        called = await client.call_tool("issue-tracker_list_issues", {})

    assert "issue-tracker_list_issues" in {tool.name for tool in listed.tools}
    assert not called.is_error


class Exporter(OTLPSpanExporter):
    """Notes how exports ended, which a processor only logs."""

    results: list[tuple[int, SpanExportResult]]

    def export(self, spans: "tuple[ReadableSpan, ...]") -> SpanExportResult:  # type: ignore[override]
        result = super().export(spans)
        self.results.append((len(spans), result))
        return result


@pytest.fixture
def exporter(
    proxy: Proxy, demo: DemoData, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Exporter]:
    # It would win over the parameter.
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    exporter = Exporter(
        endpoint=f"{proxy.url}/v1/traces",
        certificate_file=str(proxy.certificate),
        headers={"Authorization": f"Bearer {demo.tokens['admin']}"},
    )
    exporter.results = []
    yield exporter
    exporter.shutdown()


def test_a_default_batch_of_the_opentelemetry_sdk_arrives(
    exporter: Exporter, demo: DemoData, name: str
) -> None:
    resource = Resource.create({"agent_runtime.agent_id": demo.agent_id})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("test")

    for number in range(SPANS):
        with tracer.start_as_current_span("chat gpt-4o-mini") as span:
            span.set_attribute("gen_ai.operation.name", "chat")
            span.set_attribute("gen_ai.conversation.id", name)
            span.set_attribute("gen_ai.usage.input_tokens", 1)
            span.set_attribute("own.text", f"{number:{TEXT_BYTES}}")
    provider.shutdown()

    assert {result for _, result in exporter.results} == {SpanExportResult.SUCCESS}
    assert sum(count for count, _ in exporter.results) == SPANS
    assert max(count for count, _ in exporter.results) * TEXT_BYTES > 2**20
    session = f"/api/observability/session/{name}"
    shown = until_blocking(lambda: demo.call("GET", session))
    until_blocking(lambda: demo.call("GET", session)["num_traces"] == SPANS)
    assert shown["session_id"] == name


@pytest.mark.parametrize("name_of_probe", ["metrics", "readyz", "livez"])
def test_probes_and_metrics_stay_inside(proxy: Proxy, name_of_probe: str) -> None:
    for path in (
        f"/{name_of_probe}",
        f"/{name_of_probe}?x",
        f"//{name_of_probe}",
        f"/./{name_of_probe}",
        f"/api/../{name_of_probe}",
        f"/%{ord(name_of_probe[0]):x}{name_of_probe[1:]}",
        f"/{name_of_probe.upper()}",
        f"/{name_of_probe}/",
        f"/{name_of_probe}%20",
    ):
        connection = HTTPSConnection("127.0.0.1", proxy.port, context=proxy.tls)
        connection.request("GET", path)

        assert connection.getresponse().status in (400, 404), path
        connection.close()


def test_the_log_has_the_address_of_the_client(
    proxy: Proxy, demo_folder: Path, name: str
) -> None:
    connection = HTTPSConnection(
        "127.0.0.1", proxy.port, context=proxy.tls, source_address=(CLIENT, 0)
    )
    invented = {"X-Forwarded-For": "203.0.113.9", "X-Request-Id": f"address-{name}"}
    connection.request("GET", "/openapi.json", headers=invented)
    assert connection.getresponse().status == 200
    connection.close()

    def lines() -> list[str]:
        log = (demo_folder / "log").read_text()
        return re.findall(rf"^.*address-{name}.*$", log, re.MULTILINE)

    [line] = until_blocking(lines)
    assert orjson.loads(line)["address"] == CLIENT
