"""A tour of the demo: a call that is allowed, one that is denied, one that is asked."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from aiohttp import ClientError, ClientSession

from service.demo.access import Demo
from service.demo.agent import ToolAnswer
from service.demo.api import DemoError
from service.demo.session import MODEL, DemoSession, until
from service.errors import StartError

REASONS: Final[Mapping[str, str]] = {
    "no_rule_matches": "no rule matches, and what no rule names is denied",
    "connector_not_granted": "the agent doesn't hold the connector",
}

Say = Callable[[str], None]
Ask = Callable[[str], Awaitable[bool]]


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
        self._session = DemoSession(http, demo, "tour")
        self._admin = self._session.admin
        self._agent = self._session.agent

    async def run(self) -> None:
        await self._session.start()
        agent = await self._admin.get(f"/api/catalog/agents/{self._demo.agent_id}")
        self._say(
            f"The agent {agent['name']!r} has one URL and one token for all of its"
            " tools.\nIts tool rules decide about each call:\n"
        )
        await self._session.tools_are_known()
        await self._allowed()
        await self._denied()
        await self._asked()
        await self._on_record()

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

        before = {each["id"] for each in await self._pending()}

        async def asked() -> Any:
            return [each for each in await self._pending() if each["id"] not in before]

        calling = asyncio.create_task(call())
        try:
            approvals = await until(asked)
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
        path = f"/api/mcp/calls?session_id={self._session.id}&tool={tool}"
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

    async def _on_record(self) -> None:
        await self._session.record_turn(
            "Which issues are open? File one about the tea.",
            "Two were open. I filed a third.",
        )
        query = f"agent_id={self._demo.agent_id}&limit=1"
        listed = await self._admin.get(f"/api/observability/session/list?{query}")
        session = listed["sessions"][0]
        cost = session["cost_summary"]["total"]
        usage = session["token_usage"]
        self._say(
            f"RECORD   session {self._session.id}\n"
            f"  calls    {session['num_tool_calls']}, of which "
            f"{session['num_tool_calls_with_error']} refused\n"
            f"  cost     {cost['cost']} {cost['currency']} for {usage['total']} tokens"
            f" of {MODEL}, at the prices that were valid then\n"
        )
