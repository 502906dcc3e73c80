"""The requests whose bytes on disk are measured, kind by kind."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tests.instruments.bench.upstream import TOOL
from tests.support.gateway.served import (
    Agent,
    Api,
    Setting,
    is_answered,
    new_setting,
)
from tests.support.sessions.otlp.spans import (
    NOON,
    PROTOBUF,
    TRACES,
    export,
    llm,
    span,
)

# Each sends to agents, sessions and secrets of its own: the state of one is versioned.
CLIENTS: Final = 8
SHORT: Final = "a question or an answer of some two hundred characters, ".ljust(
    200, "."
)
LONG: Final = "x" * 64 * 1024
ARGUMENTS: Final = {"text": "some text of a few words", "number": 42}
STARTED: Final = datetime.now(UTC) - timedelta(hours=1)

Send = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Kind:
    """``send`` makes the request of a number; ``share`` is of a run's requests."""

    name: str
    send: Send
    share: float = 1.0


async def kinds(admin: Api, upstream: str) -> list[Kind]:
    """Set up what the requests need, and return their kinds."""
    agents = [
        (await _made(admin, "/api/catalog/agents", name=f"agent {number}"))
        for number in range(CLIENTS)
    ]
    return [
        *await _of_agents(admin, agents),
        *await _of_secrets(admin),
        *await _of_sessions(admin, agents),
        *await _of_calls(admin, upstream),
        Kind("a read of history", lambda _: admin.do("GET", "/api/audit/events")),
    ]


async def _made(admin: Api, path: str, **body: Any) -> str:
    return str((await admin.do("POST", path, body)).data["id"])


async def _of_agents(admin: Api, agents: list[str]) -> list[Kind]:
    connectors = [
        await _made(
            admin, "/api/mcp/connectors", name=f"c {n}", url="https://crm.example/mcp"
        )
        for n in range(CLIENTS)
    ]
    for agent in agents:
        grant = f"/api/mcp/connectors/{connectors[0]}/grants/agents/{agent}"
        await admin.do("PUT", grant)

    async def register(number: int) -> None:
        body = {"name": f"agent {number}", "description": SHORT}
        await admin.do("POST", "/api/catalog/agents", body)

    async def register_with_key(number: int) -> None:
        body = {"name": f"agent {number}", "description": SHORT}
        key = f"key-{number}"
        await admin.do("POST", "/api/catalog/agents", body, Idempotency_Key=key)

    async def publish(number: int) -> None:
        path = f"/api/mcp/connectors/{connectors[number % CLIENTS]}/grants/public"
        is_even = number // CLIENTS % 2 == 0
        await admin.do("POST" if is_even else "DELETE", path)

    def rules(count: int, *, new: int) -> Send:
        async def replace(number: int) -> None:
            stated = [
                {
                    "connector_id": connectors[0],
                    "tool_pattern": f"crm.{count}-{new}.{version}.tool{each}",
                    "stance": "allow",
                }
                for each in range(count)
                for version in [number if each < new else "same"]
            ]
            path = f"/api/mcp/agents/{agents[number % CLIENTS]}/tools"
            await admin.do("PUT", path, {"rules": stated})

        return replace

    return [
        Kind("an agent registered", register),
        Kind("the same with an `Idempotency-Key`", register_with_key),
        Kind("a connector published, or not any more", publish),
        Kind("tool rules replaced: 1", rules(1, new=1)),
        Kind("tool rules replaced: 50, one of them new", rules(50, new=1), 0.5),
        Kind("tool rules replaced: 50, all new", rules(50, new=50), 0.2),
        Kind("tool rules replaced: 1,000, one new", rules(1000, new=1), 0.05),
        Kind("tool rules replaced: 1,000, all new", rules(1000, new=1000), 0.02),
    ]


async def _of_secrets(admin: Api) -> list[Kind]:
    for number in range(CLIENTS):
        secret = {"name": f"TOKEN_{number}", "value": "first"}
        await admin.do("POST", "/api/secrets", secret)

    async def overwrite(number: int) -> None:
        path = f"/api/secrets/TOKEN_{number % CLIENTS}"
        await admin.do("PUT", path, {"value": f"{number:040}"})

    return [Kind("a secret of 40 bytes overwritten", overwrite)]


async def _of_sessions(admin: Api, agents: list[str]) -> list[Kind]:
    path = "/api/observability/session"
    for number in range(CLIENTS):
        session = {"agent_id": agents[number], "session_id": f"turns-{number}"}
        await admin.do("POST", path, {**session, "started_at": STARTED.isoformat()})

    async def start(number: int) -> None:
        agent = agents[number % CLIENTS]
        body = {"agent_id": agent, "session_id": f"session-{number}"}
        await admin.do("POST", path, body)

    def turn(kind: str, text: str) -> Send:
        async def record(number: int) -> None:
            at = STARTED + timedelta(milliseconds=number)
            body = {
                "turn_id": f"{kind}-{number}",
                "started_at": at.isoformat(),
                "ended_at": (at + timedelta(seconds=2)).isoformat(),
                "provider": "acme",
                "model": "swift",
                "prompt_tokens": 1000,
                "completion_tokens": 100,
                "input": text,
                "output": text,
            }
            await admin.do("POST", f"{path}/turns-{number % CLIENTS}/turns", body)

        return record

    async def trace(number: int) -> None:
        words: dict[str, Any] = {
            "trace": number + 1,
            "start": (STARTED - NOON).total_seconds() + number / 1000,
            "input__value": SHORT,
            "output__value": SHORT,
        }
        body = export(
            agents[0],
            span(2 * number + 1, session__id=f"traced-{number // 10}", **words),
            llm(2 * number + 2, 2 * number + 1, 1000, 100, **words),
        )
        headers = {"Content-Type": PROTOBUF, "Authorization": f"Bearer {admin.token}"}
        async with admin.http.post(
            admin.url + TRACES, data=body.SerializeToString(), headers=headers
        ) as answer:
            answer.raise_for_status()

    return [
        Kind("a session started", start),
        Kind("a turn, texts of 2 x 200 bytes", turn("short", SHORT)),
        Kind("a turn, texts of 2 x 64 KiB", turn("long", LONG), 0.1),
        Kind("a trace of two spans by OTLP, a turn of 2 x 200 bytes", trace),
    ]


async def _of_calls(admin: Api, upstream: str) -> list[Kind]:
    strict, batched, denied = [
        await new_setting(admin, upstream, TOOL) for _ in range(3)
    ]
    await denied.rule(any="deny")
    await _record(strict, "strict", "strict")
    await _record(batched, "batched", "batched")

    def call(agent: Agent, *, is_allowed: bool = True) -> Send:
        async def ask(_number: int) -> None:
            answer = await agent.call(TOOL, ARGUMENTS)
            if is_answered(answer) != is_allowed:
                raise RuntimeError(answer)

        return ask

    return [
        Kind("a tool called, `strict`", call(strict.agent)),
        Kind("a tool called, `batched`", call(batched.agent)),
        Kind("a tool call denied", call(denied.agent, is_allowed=False)),
    ]


async def _record(setting: Setting, slug: str, mode: str) -> None:
    body = {"slug": slug, "record_mode": mode}
    await setting.manager.do("PUT", f"{setting.connector_path}/gateway", body)
