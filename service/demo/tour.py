"""A tour of the demo: a call that is allowed, one that is denied, one that is asked."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from aiohttp import ClientError, ClientSession

from service.bootstrap import TOKEN_FILE
from service.demo.agent import DemoAgent, ToolAnswer
from service.demo.api import Api, DemoError
from service.demo.load import AGENT_TOKEN_FILE, AGENT_URL_FILE
from service.errors import StartError

# Its tools are observed within seconds of a start.
WAIT_S: Final = 60.0
STEP_S: Final = 0.2
MODEL: Final = ("openai", "gpt-5-mini")
PROMPT_TOKENS: Final = 3_200
COMPLETION_TOKENS: Final = 450
REASONS: Final[Mapping[str, str]] = {
    "no_rule_matches": "no rule matches, and what no rule names is denied",
    "connector_not_granted": "the agent doesn't hold the connector",
}

Say = Callable[[str], None]
Ask = Callable[[str], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Demo:
    """Where the demo is, and the tokens of its agent and of admin."""

    base_url: str
    agent_id: str
    agent_url: str
    agent_token: str
    admin_token: str

    @classmethod
    def of(cls, data_dir: Path) -> "Demo":
        """Read the files that the demo writes.

        :raises StartError: one of them is missing
        """
        try:
            agent_url, agent_token, admin_token = (
                (data_dir / name).read_text(encoding="ascii").strip()
                for name in (AGENT_URL_FILE, AGENT_TOKEN_FILE, TOKEN_FILE)
            )
        except OSError as error:
            raise StartError(
                f"there is no demo in {data_dir} ({error.filename}: {error.strerror}); "
                "start it by make serve, or name its folder by --data-dir"
            ) from None
        url = urlsplit(agent_url)
        return cls(
            base_url=f"{url.scheme}://{url.netloc}",
            agent_id=url.path.rpartition("/")[2],
            agent_url=agent_url,
            agent_token=agent_token,
            admin_token=admin_token,
        )


async def run_tour(demo: Demo, say: Say, ask: Ask) -> None:
    """Make the calls, and say what came of each, why, and what is on record.

    ``ask`` puts a question to a person and returns whether the answer is yes.

    :raises StartError: the service can't be reached, or refuses a step
    """
    try:
        async with ClientSession() as http:
            await _Tour(http, demo, say, ask).run()
    except ClientError as error:
        raise StartError(
            f"can't reach {demo.base_url} ({error}); is the demo running? Start it by "
            "make serve"
        ) from None
    except DemoError as error:
        raise StartError(f"the demo is not as it was loaded: {error}") from None


class _Tour:
    def __init__(self, http: ClientSession, demo: Demo, say: Say, ask: Ask) -> None:
        self._demo = demo
        self._say = say
        self._ask = ask
        self._session_id = f"tour-{uuid4()}"
        self._admin = Api(http, demo.base_url, demo.admin_token)
        self._agent = DemoAgent(
            http, demo.agent_url, demo.agent_token, self._session_id
        )

    async def run(self) -> None:
        started_at = datetime.now(UTC)
        await self._admin.post(
            "/api/observability/session",
            {
                "agent_id": self._demo.agent_id,
                "session_id": self._session_id,
                "started_at": started_at.isoformat(),
            },
        )
        agent = await self._admin.get(f"/api/catalog/agents/{self._demo.agent_id}")
        self._say(
            f"The agent {agent['name']!r} has one URL and one token for all of its"
            " tools.\nIts tool rules decide about each call:\n"
        )
        await until(self._tools_are_known)
        await self._allowed()
        await self._denied()
        await self._asked()
        await self._on_record(started_at)

    async def _tools_are_known(self) -> bool:
        return "issue-tracker_list_issues" in await self._agent.tools()

    async def _allowed(self) -> None:
        self._say("ALLOWED  list_issues()")
        answer = await self._agent.call("issue-tracker_list_issues")
        await self._explain("list_issues", answer)

    async def _denied(self) -> None:
        self._say("DENIED   delete_issue(number=1)")
        answer = await self._agent.call("issue-tracker_delete_issue", number=1)
        await self._explain("delete_issue", answer)

    async def _asked(self) -> None:
        self._say("ASKED    create_issue(title='No tea')")

        async def call() -> ToolAnswer:
            return await self._agent.call("issue-tracker_create_issue", title="No tea")

        calling = asyncio.create_task(call())
        try:
            approvals = await until(self._pending)
            path = (
                f"/api/mcp/agents/{self._demo.agent_id}/approvals/{approvals[0]['id']}"
            )
            is_approved = await self._ask("  it waits for a person: do you approve it?")
            decision = "approve" if is_approved else "refuse"
            await self._admin.post(f"{path}/{decision}", {"reason": "on the tour"})
            self._say(f"  person   admin {decision}d it")
            answer = await calling
        finally:
            calling.cancel()
        if is_approved and answer.is_pending:
            # It was answered that it is pending before the person had decided.
            answer = await call()
        await self._explain("create_issue", answer)

    async def _pending(self) -> Any:
        path = f"/api/mcp/approvals?state=pending&agent_id={self._demo.agent_id}"
        found = await self._admin.get(path)
        return [each for each in found["approvals"] if each["tool"] == "create_issue"]

    async def _explain(self, tool: str, answer: ToolAnswer) -> None:
        calls = await until(lambda: self._recorded(tool))
        explained = await self._admin.get(f"/api/mcp/calls/{calls[0]['id']}")
        told = "\n                    ".join(answer.text.splitlines())
        self._say(
            f"  agent    is told: {told}\n"
            f"  why      {await self._why(explained['explanation'])}\n"
        )

    async def _recorded(self, tool: str) -> Any:
        path = f"/api/mcp/calls?session_id={self._session_id}&tool={tool}"
        found = await self._admin.get(path)
        return found["calls"]

    async def _why(self, explanation: Any) -> str:
        for rule in explanation["rules"]:
            if rule["decisive"]:
                author = await self._admin.get(f"/api/users/{rule['since']['actor']}")
                return (
                    f"the rule {rule['tool_pattern']!r} says {rule['stance']}; "
                    f"{author['name']} set it at position {rule['since']['position']}"
                    " of the event log"
                )
        reason = str(explanation["reason"])
        return REASONS.get(reason, reason)

    async def _on_record(self, started_at: datetime) -> None:
        path = f"/api/observability/session/{self._session_id}"
        provider, model = MODEL
        await self._admin.post(
            f"{path}/turns",
            {
                "turn_id": "turn-1",
                "started_at": started_at.isoformat(),
                "ended_at": datetime.now(UTC).isoformat(),
                "provider": provider,
                "model": model,
                "prompt_tokens": PROMPT_TOKENS,
                "completion_tokens": COMPLETION_TOKENS,
                "input": "Which issues are open? File one about the tea.",
                "output": "Two were open. I filed a third.",
            },
        )
        query = f"agent_id={self._demo.agent_id}&limit=1"
        listed = await self._admin.get(f"/api/observability/session/list?{query}")
        session = listed["sessions"][0]
        cost = session["cost_summary"]["total"]
        usage = session["token_usage"]
        self._say(
            f"RECORD   session {self._session_id}\n"
            f"  calls    {session['num_tool_calls']}, of which "
            f"{session['num_tool_calls_with_error']} refused\n"
            f"  cost     {cost['cost']} {cost['currency']} for {usage['total']} tokens"
            f" of {model}, at the prices that were valid then\n"
        )


async def until(found: Callable[[], Awaitable[Any]]) -> Any:
    """Ask until there is something, and return it.

    :raises StartError: there was nothing for a minute
    """
    give_up = time.monotonic() + WAIT_S
    while not (it := await found()):
        if time.monotonic() > give_up:
            raise StartError("the demo's tools don't answer; restart it by make serve")
        await asyncio.sleep(STEP_S)
    return it
