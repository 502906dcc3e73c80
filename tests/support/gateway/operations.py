"""How the walks over all operations call those of the tool gateway."""

from collections.abc import Iterator
from uuid import UUID

from service.agent_tokens.caller import Caller
from service.gateway.gate import GATE, CallRequest, Pending
from service.http.app_keys import EVENT_LOG
from tests.support.gateway.observing import observe
from tests.support.operations.asks import Ask, World, json_ask, whole_page
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import REQUEST_ID, Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_connector_health            200      200      200      200     200
    get_calls                       200      200      200      200     200
    get_call                        404      200      404      200     404
    get_approvals                   200      200      200      200     200
    get_approval                    404      404      404      200     404
    get_definitions                 200      200      200      200     200
    post_approval_approve           404      404      404      200     404
    post_approval_refuse            404      404      404      409     404
    post_approval_withdraw          404      404      404      200     404
    post_definitions_accept         403      403      403      403     403
    post_connector_observe          403      403      403      403     403
"""
TOOL = {
    "name": "issues.create",
    "description": "File an issue",
    "inputSchema": {
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    },
}


async def make(walk: Walk) -> None:
    await walk.call("post_connector_observe")
    await walk.call("get_connector_health")
    log, connector_id = walk.caller.client.app[EVENT_LOG], UUID(walk.ids["id"])
    delete = {"name": "issues.delete", "inputSchema": {"type": "object"}}
    await observe(log, connector_id, [TOOL, delete])
    changed = TOOL | {"description": "File an issue, or a bug"}
    await observe(log, connector_id, [changed, delete])
    shown = (await walk.call("get_definitions")).data["tools"]
    digests = {each["tool"]: each["digest"] for each in shown}
    await walk.call("post_definitions_accept", {"definitions": digests})
    await _ask(walk)
    # Before, the calls would have been refused for want of the caller's secret.
    await walk.call("put_connector_credential", {"whose": "caller"})


async def _ask(walk: Walk) -> None:
    """Ask for four calls: one is approved, one refused, one withdrawn, one open."""
    gate = walk.caller.client.app[GATE]
    caller = Caller(
        agent_id=UUID(walk.ids["agent_id"]),
        token_id=UUID(walk.ids["agent_token_id"]),
        user_id=None,
    )

    async def ask(issue: int) -> object:
        request = CallRequest(
            caller=caller,
            connector_id=UUID(walk.ids["id"]),
            tool="issues.delete",
            arguments=b'{"issue": %d}' % issue,
            request_id=REQUEST_ID,
        )
        return await gate.admit(request)

    for issue, verb in enumerate(("approve", "refuse", "withdraw")):
        pending = await ask(issue)
        assert isinstance(pending, Pending)
        walk.ids["approval_id"] = str(pending.approval_id)
        await walk.call("get_approval")
        reason = {"reason": "as agreed with support"}
        await walk.call(f"post_approval_{verb}", reason)
        await ask(issue)
    still_open = await ask(4)
    assert isinstance(still_open, Pending)
    walk.ids["approval_id"] = str(still_open.approval_id)
    walk.position = (await walk.caller.client.app[EVENT_LOG].head()).position
    agent_id = walk.ids["agent_id"]
    await walk.call("get_approvals", query={"agent_id": agent_id, "limit": 2})
    admitted = {"agent_id": agent_id, "decision": "admitted"}
    calls = (await walk.call("get_calls", query=admitted)).data["calls"]
    walk.ids["call_id"] = calls[0]["id"]
    await walk.call("get_call")


async def end(walk: Walk) -> None:
    await walk.call("delete_connector_credential")


def _accept(_world: World) -> Iterator[Ask]:
    yield json_ask(
        "many definitions", {"definitions": {f"tool-{n}": "0" * 64 for n in range(500)}}
    )


def _messages(_world: World) -> Iterator[Ask]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    texts = {"name": "t", "arguments": {"text": "x" * 1_000_000}}
    values = {"name": "t" * 100_000, "arguments": {"values": list(range(4_500))}}
    for what, params in {"a long text": texts, "many values": values}.items():
        yield json_ask(what, {**call, "params": params})
    yield json_ask("many messages", [{**call, "id": n} for n in range(1_000)])
    yield json_ask("a list of tools", {**call, "method": "tools/list"})


OPERATIONS = WalkedOperations(
    after=("agent_tokens", "tool_rules"),
    make=make,
    end=end,
    access=ACCESS,
    not_asked={
        "post_to_agent": "speaks another protocol, and takes tokens of agents alone",
        "post_to_connector": "as post_to_agent",
    },
    worst={
        "get_approvals": whole_page,
        "get_calls": whole_page,
        "post_definitions_accept": _accept,
        "post_to_agent": _messages,
        "post_to_connector": _messages,
    },
    simple=frozenset(
        [
            "get_approval",
            "get_call",
            "get_connector_health",
            "get_definitions",
            "post_approval_approve",
            "post_approval_refuse",
            "post_approval_withdraw",
            "post_connector_observe",
        ]
    ),
)
