"""A provider, and what calls it: nothing, our gateway in both modes, LiteLLM Proxy."""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import orjson
import psutil

from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrate
from tests.instruments.bench import processes
from tests.instruments.bench.gateway_stage import Api, agent
from tests.instruments.bench.models.calls import Target
from tests.instruments.bench.models.litellm_proxy import running_litellm
from tests.instruments.bench.models.provider import MODEL
from tests.support.harness.environment import MissingError
from tests.support.harness.service import Server, running

DIRECT: Final = "direct"
STRICT: Final = "strict"
BATCHED: Final = "batched"
LITELLM: Final = "LiteLLM"
TARGETS: Final = (DIRECT, STRICT, BATCHED, LITELLM)
SECRET: Final = "provider"
PRICES: Final = {"input_price_per_1m": 2.5, "output_price_per_1m": 10}
SINCE: Final = "2026-01-01T00:00:00Z"
ROUTER: Final = "/api/llm-router"


@dataclass(frozen=True, slots=True)
class Case:
    """A body, and what the end of every answer to it has."""

    body: bytes
    mark: bytes


def _body(words: int, **other: Any) -> bytes:
    messages = [
        {"role": "system", "content": "You answer questions about a text. " * 10},
        {"role": "user", "content": "some words of a prompt, " * words},
    ]
    return orjson.dumps({"model": "bench", "messages": messages, **other})


CASES: Final = {
    "chat": Case(_body(24), b"chatcmpl-"),
    "long prompt": Case(_body(12_500), b"chatcmpl-"),
    "stream": Case(_body(24, stream=True), b"data: [DONE]"),
}


@dataclass(frozen=True, slots=True)
class Stage:
    targets: dict[str, Target]


@contextmanager
def set_up(
    *, with_followers: bool, with_tier: bool, with_peer: bool
) -> Iterator[Stage]:
    """Run everything; LiteLLM is missing where it can't be installed.

    With followers our process is all of ``serve``, otherwise the API alone. With a
    tier the registry of tiers is there, though no route names one.
    """
    with ExitStack() as held:
        name = tempfile.TemporaryDirectory(prefix="agent-runtime-bench-")
        folder = Path(held.enter_context(name))
        module = "tests.instruments.bench.models.provider"
        command = [sys.executable, "-m", module]
        served = Server(command, folder / "provider.log")
        provider = held.enter_context(running(served))
        postgres = held.enter_context(EmbeddedPostgres.start(folder))
        migrate(postgres.url)
        ours = held.enter_context(
            processes.service(
                postgres.url,
                folder,
                only=None if with_followers else "api",
                options=("--model-gateway-networks", "127.0.0.0/8"),
            )
        )
        asyncio.run(_prices_and_secret(ours))
        counted = (psutil.Process(ours.pid), psutil.Process(postgres.pid))
        targets = {
            DIRECT: Target(
                f"{provider.url}/v1/chat/completions", {"Authorization": "Bearer sk"}
            )
        }
        for mode in (STRICT, BATCHED):
            url, token = asyncio.run(
                _routed(ours, f"{provider.url}/v1", mode, with_tier=with_tier)
            )
            targets[mode] = Target(url, {"Authorization": f"Bearer {token}"}, counted)
        if with_peer:
            try:
                url, key, process = held.enter_context(
                    running_litellm(folder / "litellm", provider.url, "bench")
                )
                targets[LITELLM] = Target(
                    f"{url}/v1/chat/completions",
                    {"Authorization": f"Bearer {key}"},
                    (process,),
                )
            except MissingError as missing:
                print(f"not compared with LiteLLM: {missing}", flush=True)
        yield Stage(targets)


async def _prices_and_secret(server: Server) -> None:
    async with aiohttp.ClientSession() as http:
        api = Api(http, server.url, server.admin_token)
        named = {"key": "openai", "display_name": "OpenAI"}
        await api.send("POST", f"{ROUTER}/providers", named)
        price = {
            "provider": "openai",
            "model": MODEL,
            "effective_from": SINCE,
            **PRICES,
        }
        await api.send("POST", f"{ROUTER}/prices", price)
        secret = {"name": SECRET, "value": "sk-provider-0123456789"}
        await api.send("POST", "/api/secrets", secret)


async def _routed(
    server: Server, base_url: str, mode: str, *, with_tier: bool
) -> tuple[str, str]:
    """Return the URL of an agent's chat completions in a mode, and its token."""
    async with aiohttp.ClientSession() as http:
        api = Api(http, server.url, server.admin_token)
        agent_id, token = await agent(api)
        connection = {
            "name": mode,
            "base_url": base_url,
            "dialects": ["openai_chat"],
            "provider": "openai",
            "credential": {"secret_name": SECRET},
            "record_mode": mode,
        }
        made = await api.send("POST", f"{ROUTER}/connections", connection)
        target = {"connection_id": made["id"], "model": MODEL}
        preset = {"name": mode, "groups": [{"targets": [target]}]}
        preset_id = (await api.send("POST", f"{ROUTER}/presets", preset))["id"]
        await api.send("PUT", f"{ROUTER}/presets/{preset_id}/agents/{agent_id}")
        if with_tier:
            await api.send("PUT", f"{ROUTER}/tiers", {"tiers": {"fast": preset_id}})
        routing = {"routes": [{"model": "*", "preset_id": preset_id}], "tiers": {}}
        await api.send("PUT", f"/api/agents/{agent_id}/llm-routing", routing)
    path = f"/llm/agents/{agent_id}/openai/v1/chat/completions"
    return server.url + path, token
