"""Memory of a process that has read many agents: ``... bench.memory``.

Each agent has 1,000 rules. A new process, without followers, reads all of them in an
order chosen at random, by commands that change nothing. Fails if that takes more memory
than the setting and what a process takes otherwise.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import aiohttp
import psycopg

from service.cache_bounds import CACHE_BYTES
from service.tool_rules.aggregate import ToolRules
from tests.instruments.bench.session_log import ADVANCE
from tests.support.harness.process import Process
from tests.support.harness.service import Server, running, serving

CALLERS: Final = 4
RULES: Final = 1_000
MIB: Final = 1024 * 1024
# What the setting's description says that a process takes beside it.
OTHERWISE_MIB: Final = 150


def memory_mib(process: Process) -> float:
    """Return the memory of a process that is in use (VmRSS of proc(5))."""
    assert process.popen is not None
    status = Path(f"/proc/{process.popen.pid}/status").read_text()
    (line,) = (each for each in status.splitlines() if each.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


# The events of an agent and of its rules, once more for other agents.
COPY: Final = """
    INSERT INTO events.stored_event (
           originator_id, originator_version, topic, state,
           notification_id, recorded_at, command_id, metadata)
    SELECT CASE originator_id WHEN %(agent)s THEN new.agent ELSE new.rules END,
           originator_version, topic,
           convert_to(replace(convert_from(state, 'UTF8'),
                              %(agent)s::text, new.agent::text), 'UTF8'),
           head.position
           + row_number() OVER (ORDER BY new.agent, notification_id),
           now(), gen_random_uuid(), metadata
      FROM events.head,
           events.stored_event,
           unnest(%(agents)s::uuid[], %(rules_ids)s::uuid[]) AS new (agent, rules)
     WHERE originator_id IN (%(agent)s, %(rules)s)
"""
BATCH: Final = 500


class Client:
    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def call(self, method: str, path: str, body: object = None) -> Any:
        async with self._session.request(method, path, json=body) as response:
            answer = await response.json()
            if not response.ok:
                raise RuntimeError(f"{method} {path}: {response.status} {answer}")
            return answer["data"]

    async def connector(self) -> str:
        described = {"name": "C", "url": "https://crm.example/mcp"}
        return str((await self.call("POST", "/api/mcp/connectors", described))["id"])

    async def agent(self) -> str:
        made = await self.call("POST", "/api/catalog/agents", {"name": "A"})
        return str(made["id"])

    async def replace(self, agent: str, connector: str) -> None:
        rules = [
            {
                "connector_id": connector,
                "tool_pattern": f"crm.contacts.v{each}.*",
                "stance": "allow",
            }
            for each in range(RULES)
        ]
        await self.call("PUT", f"/api/mcp/agents/{agent}/tools", {"rules": rules})

    async def remove(self, agent: str, connector: str) -> None:
        path = f"/api/mcp/agents/{agent}/tools/connectors/{connector}"
        await self.call("DELETE", path)


def copy(data: Path, agent: str, count: int) -> list[str]:
    """Write the events of an agent for others, too; nobody else may be writing."""
    made = [str(uuid4()) for _ in range(count)]
    socket = data / "postgres" / "socket"
    with psycopg.connect(
        host=str(socket), user="postgres", dbname="agent_runtime", autocommit=True
    ) as owner:
        for batch in batched(made, BATCH):
            with owner.transaction():
                owner.execute(
                    COPY,
                    {
                        "agent": UUID(agent),
                        "rules": ToolRules.create_id(agent),
                        "agents": batch,
                        "rules_ids": [ToolRules.create_id(each) for each in batch],
                    },
                )
                owner.execute(ADVANCE)
        owner.execute("VACUUM ANALYZE events.stored_event")
    return made


def batched(values: Sequence[str], size: int) -> Iterator[list[str]]:
    for first in range(0, len(values), size):
        yield [*values[first : first + size]]


async def each_of(
    agents: Sequence[Any], do: Callable[[Any], Awaitable[object]], server: Server
) -> float:
    """Do something for each, some at once; return the most memory in between."""
    waiting, most = [*reversed(agents)], memory_mib(server)

    async def work() -> None:
        nonlocal most
        while waiting:
            await do(waiting.pop())
            most = max(most, memory_mib(server))

    await asyncio.gather(*(work() for _ in range(CALLERS)))
    return most


def session_of(server: Server, token: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        server.url, headers={"Authorization": f"Bearer {token}"}
    )


async def begin(server: Server) -> str:
    """Make an agent with rules."""
    async with session_of(server, server.admin_token) as session:
        client = Client(session)
        connector, agent = await client.connector(), await client.agent()
        await client.replace(agent, connector)
    return agent


async def read(server: Server, token: str, agents: list[str]) -> float:
    """Remove rules that no agent has."""
    async with session_of(server, token) as session:
        client = Client(session)
        connector = await client.connector()
        random.shuffle(agents)
        return await each_of(
            agents, lambda agent: client.remove(agent, connector), server
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=20_000)
    parser.add_argument("--cache-bytes", type=int, default=CACHE_BYTES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        settings = {"AGENT_RUNTIME_CACHE_BYTES": str(options.cache_bytes)}

        def started() -> Server:
            return serving(
                *("--only", "api", "--data-dir", str(data)),
                log=Path(folder) / "serve.log",
                settings=settings,
            )

        with running(started()) as server:
            token = server.admin_token
            agent = asyncio.run(begin(server))
            agents = [agent, *copy(data, agent, options.agents - 1)]
        with running(started()) as server:
            print(f"begun: {memory_mib(server):.0f} MiB", flush=True)
            most = asyncio.run(read(server, token, agents))
    most_max = OTHERWISE_MIB + options.cache_bytes / MIB
    print(f"{len(agents)} agents read: {most:.0f} MiB at most, of {most_max:.0f}")
    return 1 if most > most_max else 0


if __name__ == "__main__":
    sys.exit(main())
