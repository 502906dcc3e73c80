"""Names of the client: which area an operation belongs to, and its method there.

An operation that isn't listed gets its names from its path and method.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

# By the beginning of the path; the longest counts.
AREAS: Final[Mapping[str, str]] = {
    "/api/users": "users",
    "/api/catalog/agents": "agents",
    "/api/mcp/connectors": "connectors",
    "/api/mcp/agents/{agent_id}/tools": "tool_rules",
    "/api/mcp/agents/{agent_id}/approvals": "approvals",
    "/api/mcp/approvals": "approvals",
    "/api/mcp/calls": "calls",
    "/api/mcp/agents": "agents",
    "/api/secrets": "secrets",
    "/api/observability/session": "sessions",
    "/v1/traces": "sessions",
    "/v1/logs": "sessions",
    "/v1/metrics": "sessions",
    "/api/usage": "usage",
    "/api/llm-router/contracts": "contracts",
    "/api/llm-router/calls": "model_calls",
    "/api/llm-router/connections": "model_connections",
    "/api/llm-router/presets": "presets",
    "/api/llm-router/tiers": "tiers",
    "/api/agents/{agent_id}/llm-routing": "model_routing",
    "/api/llm-router": "prices",
    "/api/audit": "audit",
}
# Whatever is not under /api.
OTHER_AREA: Final = "service"

# Of areas that aren't described as a tag of the document.
DESCRIPTIONS: Final[Mapping[str, str]] = {
    "agents": "Agents and their managers.",
    "connectors": "Connectors, their publication and their grants.",
    "tool_rules": "The rules that decide which tools an agent may call.",
    "approvals": "Tool calls that a person is asked about.",
    "calls": "Tool calls of agents, with the explanation of each decision.",
    "sessions": "Sessions of agents, with their turns, tokens and cost.",
    "prices": "Providers, models and their prices over time.",
    "contracts": "Contract prices: discounts and prices of one's own.",
    "model_calls": "Model calls of agents, with the reasons and the cost of each.",
    "model_connections": "Connections to the servers that answer model calls.",
    "presets": "Presets: which connection and model answer a call.",
    "tiers": "The registry of tiers: for each name a preset.",
    "model_routing": "Which preset answers each model that an agent names.",
    "service": "Probes, metrics and the documents about the API.",
}

METHODS: Final[Mapping[str, str]] = {
    "post_user": "create",
    "put_user_role": "grant_role",
    "delete_user_role": "revoke_role",
    "put_user_disabled": "disable",
    "delete_user_disabled": "enable",
    "post_user_token": "issue_token",
    "delete_user_token": "revoke_token",
    "get_approvals": "list",
    "post_approval_approve": "approve",
    "post_approval_refuse": "refuse",
    "post_approval_withdraw": "withdraw",
    "post_agent_token": "issue_token",
    "get_agent_tokens": "list_tokens",
    "get_agent_gateway": "gateway_settings",
    "put_agent_gateway": "change_gateway_settings",
    "delete_agent_token": "revoke_token",
    "get_connector_health": "health",
    "post_connector_observe": "observe",
    "put_connector_gateway": "change_gateway_settings",
    "put_connector_credential": "attach_credential",
    "delete_connector_credential": "detach_credential",
    "get_definitions": "definitions",
    "post_definitions_accept": "accept_definitions",
    "get_me": "me",
    "delete_user_key": "destroy_key",
    "put_agent": "change",
    "delete_agent": "retire",
    "put_connector": "change",
    "put_agent_manager": "appoint_manager",
    "delete_agent_manager": "dismiss_manager",
    "post_public_grant": "make_public",
    "delete_public_grant": "make_private",
    "delete_connector": "retire",
    "put_agent_grant": "grant",
    "delete_agent_grant": "revoke",
    "get_connector_tools": "list_rules",
    "bulk_update_tools": "replace",
    "get_tool_explanation": "explain",
    "put_secret": "set",
    "post_secret_restore": "restore_version",
    "get_secret_value": "reveal",
    "post_session": "start",
    "post_turn": "record_turn",
    "post_traces": "export_spans",
    "post_logs": "export_log_records",
    "post_metrics": "export_metrics",
    "get_session_list": "list",
    "get_usage": "list",
    "get_usage_csv": "export_csv",
    "post_provider": "add_provider",
    "post_price": "set",
    "get_prices": "history",
    "post_price_end": "end",
    "post_price_correction": "correct",
    "post_contract": "set",
    "post_contract_end": "end",
    "post_contract_correction": "correct",
    "get_contracts": "list",
    "post_reprice": "reprice_sessions",
    "post_genai_prices_import": "import_genai_prices",
    "post_litellm_import": "import_litellm",
    "get_model_calls": "list",
    "get_model_call": "get",
    "post_model_connection": "register",
    "put_model_connection": "change",
    "delete_model_connection": "retire",
    "post_preset": "make",
    "put_preset": "change",
    "delete_preset": "retire",
    "put_preset_agent": "grant",
    "delete_preset_agent": "revoke",
    "put_tiers": "replace",
    "put_model_routing": "replace",
    "get_model_routing_explanation": "explain",
    "get_agent_models": "list_models",
    "get_audit_events": "list",
    "get_audit_event": "get",
    "get_audit_jsonl": "export_jsonl",
    "get_audit_csv": "export_csv",
    "get_audit_stream": "stream",
    "get_aggregate": "get_aggregate",
    "get_aggregate_difference": "compare_aggregate",
    "get_connector_exposure": "get_exposure",
    "get_decisions_difference": "compare_decisions",
    "get_inclusion_proof": "get_inclusion_proof",
    "get_consistency_proof": "get_consistency_proof",
}
# Areas with methods that are written by hand: their module and class.
BASES: Final[Mapping[str, tuple[str, str]]] = {
    "audit": ("audit_checks", "AsyncAuditChecks"),
}
# Schemas whose short names would mean something else.
KEPT_NAMES: Final = ("AuditedResource", "SecretResource")
# The events of server-sent streams, which the document can't describe.
STREAMED: Final[Mapping[str, str]] = {"get_audit_stream": "AuditEntry"}

VERBS: Final[Mapping[str, str]] = {
    "GET": "get",
    "POST": "create",
    "PUT": "set",
    "DELETE": "delete",
    "PATCH": "change",
}
OF_ONE: Final[Mapping[str, str]] = {**VERBS, "PUT": "add", "DELETE": "remove"}


def area_of(path: str) -> str:
    """Return the area of a path: one that is listed, or its segment behind /api."""
    known = [prefix for prefix in AREAS if path.startswith(prefix)]
    if known:
        return AREAS[max(known, key=len)]
    segments = path.strip("/").split("/")
    if segments[0] != "api" or len(segments) == 1:
        return OTHER_AREA
    return snake(segments[1])


def method_of(operation_id: str, http_method: str, path: str, *, is_list: bool) -> str:
    """Return the name of an operation's method."""
    if operation_id in METHODS:
        return METHODS[operation_id]
    if area_of(path) == OTHER_AREA:
        return operation_id
    known = [prefix for prefix in AREAS if path.startswith(prefix)]
    # Without a prefix: behind /api and the area.
    prefix = max(known, key=len) if known else "/".join(path.split("/")[:3])
    rest = path.removeprefix(prefix).split("/")
    fixed = [snake(each) for each in rest if each and not each.startswith("{")]
    if fixed and path.endswith("}"):
        # One of a collection: agents/{agent_id}/readers/{user_id}.
        fixed[-1] = fixed[-1].removesuffix("s")
        return "_".join([OF_ONE[http_method], *fixed])
    verb = "list" if is_list else VERBS[http_method]
    if http_method == "POST" and fixed:
        # /approvals/{id}/approve: what is done.
        return "_".join(fixed)
    return "_".join([verb, *fixed])


def description_of(area: str, tags: Iterable[Mapping[str, str]]) -> str:
    """Return what an area is about: as listed, or as the tag of its name says."""
    known = {snake(tag["name"]): tag["description"] for tag in tags} | {**DESCRIPTIONS}
    return known.get(area) or f"Operations of {area.replace('_', ' ')}."


def class_of(area: str) -> str:
    """Return the class of an area, such as ToolRulesResource."""
    return "".join(part.capitalize() for part in area.split("_")) + "Resource"


def snake(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def model_names(schemas: Mapping[str, object]) -> dict[str, str]:
    """Return a class name for each schema: without Resource or Body, where free.

    Two schemas with the same fields may share one, so that what was read can be sent.
    """
    names: dict[str, str] = {}
    for name in schemas:
        if name in KEPT_NAMES:
            names[name] = name
            continue
        short = re.sub(r"(Resource|Body)$", "", name)
        rivals = [
            each
            for each in schemas
            if re.sub(r"(Resource|Body)$", "", each) == short and each != name
        ]
        fits = all(_fields(schemas[each]) == _fields(schemas[name]) for each in rivals)
        names[name] = short if fits else name
    return names


def _fields(schema: object) -> object:
    if not isinstance(schema, dict) or "properties" not in schema:
        return schema
    return {
        name: {
            key: value
            for key, value in field.items()
            if key in ("type", "format", "$ref", "items", "anyOf", "enum")
        }
        for name, field in schema["properties"].items()
    }
