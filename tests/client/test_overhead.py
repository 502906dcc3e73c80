"""What the client costs over bare httpx."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_runtime_client import AgentRuntime
from tests.harness.service import running, serving

CALLS = 1_000
# The fastest calls: a busy machine makes others slower, but none faster.
FASTEST = 50
OVERHEAD_MAX = 1.3


@pytest.mark.processes
@pytest.mark.slow
def test_a_small_read_costs_little_over_bare_httpx(tmp_path: Path) -> None:
    server = serving(log=tmp_path / "log", folder=tmp_path)
    with running(server):
        token = (tmp_path / "data" / "admin-token").read_text().strip()
        with (
            AgentRuntime(server.url, token) as runtime,
            httpx.Client(headers={"Authorization": f"Bearer {token}"}) as http,
        ):
            agent = runtime.agents.create("support")
            url = f"{server.url}/api/catalog/agents/{agent.id}"

            def bare() -> Any:
                return json.loads(http.get(url).raise_for_status().content)["data"]

            def ours() -> Any:
                return runtime.agents.get(agent.id)

            assert ours().name == bare()["name"]
            times: dict[Callable[[], Any], list[float]] = {bare: [], ours: []}
            for _ in range(CALLS):
                for call, taken in times.items():
                    began = time.perf_counter()
                    call()
                    taken.append(time.perf_counter() - began)

    costs = {call: sum(sorted(taken)[:FASTEST]) for call, taken in times.items()}
    assert costs[ours] <= costs[bare] * OVERHEAD_MAX
