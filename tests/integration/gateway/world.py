"""An agent with a connector and a token, and the gate that decides on its calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from aiohttp.test_utils import TestClient, make_mocked_request

from service.agent_tokens.caller import Caller
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.calls.aggregate import ToolCallRefusal
from service.gateway.definition import canonical_json
from service.gateway.gate import Admission, CallRequest, Outcome, Pending, Refused
from service.gateway.tool_gate import ToolGate
from service.resources import Resources
from service.tool_definitions.aliases import aliases_of
from tests.support import callers as users
from tests.support.gateway.observing import observe
from tests.support.reading import read_events

TRACKER = {"name": "Tracker", "url": "https://tracker.example/mcp"}
ALLOW, ASK, DENY = "allow", "ask", "deny"
Answer = Admission | Refused | Pending


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


TOOLS = [tool(name) for name in ("issues.create", "issues.list", "issues.delete")]


@dataclass(slots=True, kw_only=True)
class World:
    """``ada`` manages the agent and owns the connector."""

    client: TestClient
    resources: Resources
    gate: ToolGate
    ada: users.Caller
    agent_id: UUID
    connector_id: UUID
    token: str
    token_id: UUID

    @property
    def agent(self) -> str:
        return f"/api/mcp/agents/{self.agent_id}"

    @property
    def connector(self) -> str:
        return f"/api/mcp/connectors/{self.connector_id}"

    @property
    def grant(self) -> str:
        return f"{self.connector}/grants/agents/{self.agent_id}"

    def rules(self, **stances: str) -> dict[str, Any]:
        """Return a batch; ``_`` stands for ``.`` and ``any`` for ``*``."""
        rules = [
            {
                "connector_id": str(self.connector_id),
                "tool_pattern": pattern.replace("any", "*").replace("_", "."),
                "stance": stance,
            }
            for pattern, stance in stances.items()
        ]
        return {"rules": rules}

    async def rule(self, **stances: str) -> None:
        reply = await self.ada.put(f"{self.agent}/tools", self.rules(**stances))
        assert reply.status == 200, reply.data

    async def record_mode(self, mode: str, slug: str = "tracker") -> None:
        settings = {"slug": slug, "record_mode": mode}
        reply = await self.ada.put(f"{self.connector}/gateway", settings)
        assert reply.status == 200, reply.data

    async def lend(self, value: str) -> None:
        """Let the connector send a secret of its owner."""
        await self.ada.post("/api/secrets", {"name": "TOKEN", "value": value})
        owners = {"whose": "owner", "secret_name": "TOKEN"}
        await self.ada.put(f"{self.connector}/credential", owners)

    async def decide(
        self, pending: Answer, verb: str = "approve", **body: str
    ) -> users.Reply:
        assert isinstance(pending, Pending), pending
        path = f"{self.agent}/approvals/{pending.approval_id}/{verb}"
        return await self.ada.post(path, body)

    async def explained(self, tool: str) -> Any:
        asked = f"connector_id={self.connector_id}&tool={tool}"
        return (await self.ada.get(f"{self.agent}/tools/explain?{asked}")).data

    async def accept(self, tool: str) -> str:
        """Accept a tool's definition as it is now; return its digest."""
        shown = (await self.ada.get(f"{self.connector}/definitions")).data["tools"]
        (digest,) = (each["digest"] for each in shown if each["tool"] == tool)
        accepted = {"definitions": {tool: digest}}
        await self.ada.post(f"{self.connector}/definitions/accept", accepted)
        return str(digest)

    async def moves(self, url: str) -> None:
        """Let the connector's server be elsewhere."""
        edited = {**TRACKER, "url": url, "description": ""}
        reply = await self.ada.put(self.connector, edited)
        assert reply.status == 200, reply.data

    async def lists(self, *listed: Mapping[str, Any]) -> None:
        await observe(self.resources.log, self.connector_id, listed)

    async def caller(self, token: str | None = None) -> Caller:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        request = make_mocked_request("POST", "/", headers, app=self.client.app)
        return await self.gate.caller(request, self.agent_id)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        caller: Caller | None = None,
        **more: Any,
    ) -> Answer:
        return await self.gate.admit(
            CallRequest(
                **{
                    "caller": caller or await self.caller(),
                    "connector_id": self.connector_id,
                    "tool": name,
                    "arguments": canonical_json(arguments or {}),
                    "request_id": uuid4().hex,
                    **more,
                }
            ),
        )

    async def finish(self, answer: Answer, outcome: Outcome = Outcome.OK) -> None:
        assert isinstance(answer, Admission), answer
        await self.gate.finished(
            answer.call_id,
            outcome=outcome,
            duration_ms=12,
            upstream_ms=9,
            request_bytes=100,
            answer_bytes=200,
        )

    async def listed(self) -> list[str]:
        listed = await self.gate.tools(await self.caller())
        return [each.definition.name for each in listed.tools]

    def alias(self, name: str, prefix: str = "tracker") -> str:
        """Return the name of a tool of the connector in the agent's list."""
        (alias,) = aliases_of({self.connector_id: prefix}, [(self.connector_id, name)])
        return alias

    async def read(self, path: str, by: users.Caller | None = None) -> Any:
        """Read once everything that happened is on record and reflected."""
        await self.gate.recorder.flush(all_of_them=True)
        head = (await self.resources.log.head()).position
        reply = await (by or self.ada).get(path, X_Min_Position=str(head))
        assert reply.status == 200, reply.data
        return reply.data

    async def was_refused(self, tool: str, reason: str) -> None:
        """Record a refused call as versions before did."""

        async def refuse(work: UnitOfWork) -> None:
            work.save(
                ToolCallRefusal(
                    agent_id=str(self.agent_id),
                    token_id=str(self.token_id),
                    user_id=None,
                    connector_id=str(self.connector_id),
                    tool=tool,
                    asked_for=None,
                    reason=reason,
                    times=1,
                    session_id=None,
                    trace_id=None,
                )
            )

        log = self.resources.log
        await execute(log, refuse, metadata={"actor": "system"}, at=datetime.now(UTC))

    async def recorded(self, *topics: str) -> Sequence[Any]:
        """Flush what waits, and return the events with these topics."""
        await self.gate.recorder.flush(all_of_them=True)
        head = (await self.resources.log.head()).position
        return [
            each
            for each in await read_events(
                self.resources.log, after=0, upto=head, limit=100_000
            )
            if not topics or each.topic in topics
        ]


def refusal(answer: Answer) -> str:
    assert isinstance(answer, Refused), answer
    return answer.reason.value
