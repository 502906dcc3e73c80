"""One walk through every operation: the document's examples are its answers."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from service.app import operations
from service.gateway import gate as gateway
from service.gateway.gate import GATE, CallRequest, Pending
from service.http.app_keys import EVENT_LOG
from service.http.operation import Operation
from tests.support.callers import Caller, Reply
from tests.support.gateway.observing import observe
from tests.support.openapi.kept import check_kept

OPERATIONS = {operation.name: operation for operation in operations()}
REQUEST_ID = "example"
# Not a token of any log: a real one is shown once, and kept by its user alone.
SHOWN_TOKEN = "art_000000000000000000000000000000000000"
SHOWN_AGENT_TOKEN = "agt_000000000000000000000000000000000000"
TOOL = {
    "name": "issues.create",
    "description": "File an issue",
    "inputSchema": {
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    },
}
PRICES = {
    "provider": "acme",
    "model": "swift-1",
    "input_price_per_1m": 2.5,
    "output_price_per_1m": 10,
    "effective_from": "2026-01-01T00:00:00Z",
}
LITELLM = {
    "swift-1": {
        "litellm_provider": "acme",
        "mode": "chat",
        "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05,
    }
}


@dataclass(slots=True)
class Walk:
    """Calls operations by name and keeps each request with its answers."""

    caller: Caller
    examples: dict[str, Any] = field(default_factory=dict)
    replies: list[tuple[Operation, Reply]] = field(default_factory=list)
    position: int = 0

    async def call(
        self,
        operation_name: str,
        /,
        body: Any = None,
        query: dict[str, Any] | None = None,
        **path: Any,
    ) -> Reply:
        operation = OPERATIONS[operation_name]
        url = operation.path.format(**path)
        if query:
            url += "?" + urlencode(query)
        headers = {"X_Request_Id": REQUEST_ID}
        if operation.min_position:
            headers["X_Min_Position"] = str(self.position)
        reply = await self.caller.call(operation.method, url, body, **headers)
        assert reply.status < 300, (operation_name, reply.body)
        if operation.method != "GET" and "X-Event-Position" in reply.headers:
            self.position = reply.position
        await check_kept(self.caller, operation, url, body, reply)
        self.replies.append((operation, reply))
        self._keep(operation_name, body, query, path, reply)
        return reply

    def _keep(
        self,
        name: str,
        body: Any,
        query: dict[str, Any] | None,
        path: dict[str, Any],
        reply: Reply,
    ) -> None:
        example = self.examples.setdefault(name, {"answers": {}})
        for key, value in (("path", path), ("query", query), ("body", body)):
            if value and key not in example:
                example[key] = value
        example["answers"].setdefault(str(reply.status), _shown(reply))


def _shown(reply: Reply) -> Any:
    data = reply.data
    if isinstance(data, dict) and str(data.get("token", "")).startswith("art_"):
        data = {**data, "token": SHOWN_TOKEN}
    if isinstance(data, dict) and str(data.get("token", "")).startswith("agt_"):
        data = {**data, "token": SHOWN_AGENT_TOKEN}
    return {"data": data, "message": reply.message, "status_code": reply.status}


@dataclass(frozen=True, slots=True)
class Made:
    """What a walk has left behind, by the names of path parameters."""

    ids: dict[str, Any]


async def make_things(walk: Walk) -> Made:
    """Call everything that makes, changes and reads."""
    await walk.call("get_livez")
    await walk.call("get_readyz")
    await walk.call("get_me")
    user = (await walk.call("post_user", {"name": "grace"})).data
    user_id = user["id"]
    await walk.call("put_user_role", user_id=user_id, role="auditor")
    token = (
        await walk.call(
            "post_user_token",
            {"label": "laptop", "expires_at": "2999-01-01T00:00:00Z"},
            user_id=user_id,
        )
    ).data
    await walk.call("get_users")
    await walk.call("get_user", user_id=user_id)
    await walk.call("put_user_name", {"name": "grace.hopper"}, user_id=user_id)
    await walk.call("get_user_by_name", user_name="grace")
    await walk.call("put_user_disabled", user_id=user_id)
    await walk.call("delete_user_disabled", user_id=user_id)
    await walk.call("get_user_tokens", user_id=user_id)

    described = {"name": "Triage", "description": "Sorts incoming issues"}
    agent_id = (await walk.call("post_agent", described)).data["id"]
    await walk.call(
        "put_agent",
        {"name": "Triage", "description": "Sorts incoming issues and mail"},
        agent_id=agent_id,
    )
    await walk.call("put_agent_manager", agent_id=agent_id, user_id=user_id)
    await walk.call("put_agent_reader", agent_id=agent_id, user_id=user_id)
    await walk.call("get_agents")
    await walk.call("get_agent", agent_id=agent_id)

    connector_id = await _connect(walk, agent_id)
    agent_token_id = await _open_gateway(walk, agent_id, connector_id)
    asked = await _ask(walk, agent_id, connector_id, agent_token_id)
    of_caller = {"whose": "caller"}
    await walk.call("put_connector_credential", of_caller, id=connector_id)
    await _keep_secrets(walk)
    model_id, price_version = await _price(walk)
    provider_id = await _contract(walk)
    session_id = await _converse(walk, agent_id)
    await _review(walk, agent_id)
    return Made(
        {
            "user_id": user_id,
            "token_id": token["id"],
            "agent_token_id": agent_token_id,
            **asked,
            "role": "auditor",
            "user_name": "grace",
            "agent_id": agent_id,
            "id": connector_id,
            "connector_id": connector_id,
            "name": "TRACKER_TOKEN",
            "version": 1,
            "model_id": model_id,
            "provider_id": provider_id,
            "price_version": price_version,
            "session_id": session_id,
            "position": 1,
            "aggregate_id": connector_id,
        }
    )


async def _connect(walk: Walk, agent_id: str) -> str:
    described = {"name": "Issue tracker", "url": "https://tracker.example/mcp"}
    connector_id = str((await walk.call("post_connector", described)).data["id"])
    described["description"] = "Read and file issues"
    await walk.call("put_connector", described, id=connector_id)
    await walk.call("put_agent_grant", id=connector_id, agent_id=agent_id)
    await walk.call("put_agent_grant", id=connector_id, agent_id=agent_id)
    await walk.call("post_public_grant", id=connector_id)
    await walk.call("post_public_grant", id=connector_id)
    rules = [
        {"connector_id": connector_id, "tool_pattern": pattern, "stance": stance}
        for pattern, stance in (("issues.*", "allow"), ("*delete*", "ask"))
    ]
    await walk.call("post_tool_rules_preview", {"rules": rules}, agent_id=agent_id)
    await walk.call("bulk_update_tools", {"rules": rules}, agent_id=agent_id)
    fewer = [rules[0] | {"stance": "ask"}]
    await walk.call("post_tool_rules_preview", {"rules": fewer}, agent_id=agent_id)
    now = {"at": walk.position}
    await walk.call("post_tool_rules_restore", now, agent_id=agent_id)
    await walk.call("get_connectors")
    await walk.call("get_connector", id=connector_id)
    await walk.call("get_agent_tools", agent_id=agent_id)
    asked = {"connector_id": connector_id, "tool": "issues.delete"}
    await walk.call("get_tool_explanation", query=asked, agent_id=agent_id)
    await walk.call("get_connector_tools", id=connector_id)
    return connector_id


async def _open_gateway(walk: Walk, agent_id: str, connector_id: str) -> str:
    settings = {"slug": "tracker", "record_mode": "strict", "protocol_revision": None}
    await walk.call("put_connector_gateway", settings, id=connector_id)
    searched = {"tools_listed_max": 40}
    await walk.call("put_agent_gateway", searched, agent_id=agent_id)
    await walk.call("get_agent_gateway", agent_id=agent_id)
    await walk.call("post_connector_observe", id=connector_id)
    await walk.call("get_connector_health", id=connector_id)
    log = walk.caller.client.app[EVENT_LOG]
    delete = {"name": "issues.delete", "inputSchema": {"type": "object"}}
    await observe(log, UUID(connector_id), [TOOL, delete])
    changed = TOOL | {"description": "File an issue, or a bug"}
    await observe(log, UUID(connector_id), [changed, delete])
    shown = (await walk.call("get_definitions", id=connector_id)).data["tools"]
    digests = {each["tool"]: each["digest"] for each in shown}
    await walk.call(
        "post_definitions_accept", {"definitions": digests}, id=connector_id
    )
    body = {"label": "build server", "expires_at": "2999-01-01T00:00:00Z"}
    token = (await walk.call("post_agent_token", body, agent_id=agent_id)).data
    await walk.call("get_agent_tokens", agent_id=agent_id)
    return str(token["id"])


async def _ask(
    walk: Walk, agent_id: str, connector_id: str, token_id: str
) -> dict[str, str]:
    """Ask for four calls: one is approved, one refused, one withdrawn, one open."""
    gate = walk.caller.client.app[GATE]
    caller = gateway.Caller(
        agent_id=UUID(agent_id), token_id=UUID(token_id), user_id=None
    )

    async def ask(issue: int) -> object:
        request = CallRequest(
            caller=caller,
            connector_id=UUID(connector_id),
            tool="issues.delete",
            arguments=b'{"issue": %d}' % issue,
            request_id=REQUEST_ID,
        )
        return await gate.admit(request)

    for issue, verb in enumerate(("approve", "refuse", "withdraw")):
        pending = await ask(issue)
        assert isinstance(pending, Pending)
        named: dict[str, Any] = {
            "agent_id": agent_id,
            "approval_id": str(pending.approval_id),
        }
        await walk.call("get_approval", **named)
        reason = {"reason": "as agreed with support"}
        await walk.call(f"post_approval_{verb}", reason, **named)
        await ask(issue)
    still_open = await ask(4)
    assert isinstance(still_open, Pending)
    walk.position = (await walk.caller.client.app[EVENT_LOG].head()).position
    await walk.call("get_approvals", query={"agent_id": agent_id, "limit": 2})
    admitted = {"agent_id": agent_id, "decision": "admitted"}
    call_id = (await walk.call("get_calls", query=admitted)).data["calls"][0]["id"]
    await walk.call("get_call", call_id=call_id)
    return {"approval_id": str(still_open.approval_id), "call_id": call_id}


async def _keep_secrets(walk: Walk) -> None:
    name = "TRACKER_TOKEN"
    value = {"value": "correct horse battery staple"}
    await walk.call("post_secret", {"name": name, **value})
    await walk.call("put_secret", {"value": "a better one"}, name=name)
    await walk.call("post_secret_restore", name=name, version=1)
    await walk.call("get_secrets")
    await walk.call("get_secret", name=name)
    await walk.call("get_secret_value", name=name)


async def _price(walk: Walk) -> tuple[str, int]:
    await walk.call("post_provider", {"key": "acme", "display_name": "Acme"})
    priced = (await walk.call("post_price", PRICES)).data
    of_price = {
        "model_id": priced["model_id"],
        "price_version": priced["price"]["price_version"],
    }
    await walk.call("get_providers")
    corrected = {"input_price_per_1m": 2, "output_price_per_1m": 8}
    corrected_price = await walk.call("post_price_correction", corrected, **of_price)
    of_price["price_version"] = corrected_price.data["price"]["price_version"]
    end = {"effective_until": "2030-06-01T00:00:00Z"}
    await walk.call("post_price_end", end, **of_price)
    await walk.call("get_prices", query={"provider": "acme", "model": "swift-1"})
    dry = {"dry_run": "true"}
    await walk.call("post_litellm_import", LITELLM, query=dry)
    return of_price["model_id"], of_price["price_version"]


async def _contract(walk: Walk) -> str:
    terms = {"discount_percent": 12.5, "output_price_per_1m": 7.5}
    of_model = {"provider": "acme", "model": "swift-1", **terms}
    since = {"effective_from": "2026-01-01T00:00:00Z"}
    made = (await walk.call("post_contract", {**of_model, **since})).data
    of_price = {
        "provider_id": made["provider_id"],
        "price_version": made["price"]["price_version"],
    }
    corrected = await walk.call(
        "post_contract_correction", {**terms, "discount_percent": 15}, **of_price
    )
    of_price["price_version"] = corrected.data["price"]["price_version"]
    end = {"effective_until": "2030-06-01T00:00:00Z"}
    await walk.call("post_contract_end", end, **of_price)
    await walk.call("get_contracts", query={"provider": "acme"})
    return str(made["provider_id"])


async def _converse(walk: Walk, agent_id: str) -> str:
    session_id = "chat-2026-03-01-17"
    await walk.call("post_session", {"agent_id": agent_id, "session_id": session_id})
    turn = {
        "turn_id": "turn-1",
        "started_at": "2026-03-01T12:00:00Z",
        "ended_at": "2026-03-01T12:00:02.5Z",
        "provider": "acme",
        "model": "swift-1",
        "prompt_tokens": 1200,
        "completion_tokens": 80,
        "input": "Which of my issues are due?",
        "output": "Two are due today.",
    }
    await walk.call("post_turn", turn, session_id=session_id)
    await walk.call("get_session", session_id=session_id)
    await walk.call(
        "get_session_list", query={"start_time": "2026-02-01T00:00:00Z", "limit": 25}
    )
    usage_asked = {"from_day": "2026-03-01", "until_day": "2026-03-31"}
    await walk.call("get_usage", query={**usage_asked, "group_by": "agent,model"})
    march = {
        "from_time": "2026-03-01T00:00:00Z",
        "until_time": "2026-04-01T00:00:00Z",
    }
    await walk.call("post_reprice", march)
    await walk.call("post_session_end", {}, session_id=session_id)
    return session_id


async def _review(walk: Walk, agent_id: str) -> None:
    shared = {"kind": "connector.made_public", "limit": 1}
    entry = (await walk.call("get_audit_events", query=shared)).data["entries"][0]
    position = entry["position"]
    await walk.call("get_audit_event", position=position)
    since = {"since": position - 1, "until": position}
    connector_id = entry["resource"]["id"]
    await walk.call("get_aggregate", aggregate_id=connector_id, query={"at": position})
    await walk.call("get_aggregate_difference", aggregate_id=connector_id, query=since)
    await walk.call("get_connector_exposure", id=connector_id, query=since)
    since = {"since": position}
    await walk.call("get_decisions_difference", agent_id=agent_id, query=since)
    await walk.call("get_checkpoint_key")
    await walk.call("get_inclusion_proof", query={"position": position})
    await walk.call("get_consistency_proof", query={"first": position})


async def end_things(walk: Walk, made: Made) -> None:
    """Call everything that takes away what :func:`make_things` has made."""
    of_user = {"user_id": made.ids["user_id"]}
    of_agent = {"agent_id": made.ids["agent_id"]}
    of_connector = {"id": made.ids["id"]}
    token = {"agent_token_id": made.ids["agent_token_id"]}
    await walk.call("delete_agent_token", **of_agent, **token)
    await walk.call("delete_connector_credential", **of_connector)
    await walk.call("delete_public_grant", **of_connector)
    await walk.call("delete_agent_grant", **of_connector, **of_agent)
    await walk.call("delete_connector_owner_offer", **of_connector, **of_user)
    await walk.call("put_connector_owner", **of_connector, **of_user)
    await walk.call("delete_connector", **of_connector)
    rules = {**of_agent, "connector_id": made.ids["id"]}
    await walk.call("delete_connector_rules", **rules)
    await walk.call("delete_agent_manager", **of_agent, **of_user)
    await walk.call("delete_agent", **of_agent)
    await walk.call("delete_agent_reader", **of_agent, **of_user)
    await walk.call("delete_user_role", **of_user, role=made.ids["role"])
    await walk.call("delete_user_token", **of_user, token_id=made.ids["token_id"])
    await walk.call("delete_secret_by_name", name=made.ids["name"])
    await walk.call("delete_user_key", **of_user)
    await walk.call("delete_user", **of_user)
