"""The operations of the API. Made by ``make generated``; do not edit."""

from typing import Final

from agent_runtime_client.operation import Operation

POST_USER: Final = Operation("post_user", "POST", "/api/users", takes_key=True)
GET_USERS: Final = Operation("get_users", "GET", "/api/users", takes_min_position=True)
PUT_USER_ROLE: Final = Operation(
    "put_user_role", "PUT", "/api/users/{user_id}/roles/{role}", takes_key=True
)
DELETE_USER_ROLE: Final = Operation(
    "delete_user_role", "DELETE", "/api/users/{user_id}/roles/{role}", takes_key=True
)
PUT_USER_NAME: Final = Operation(
    "put_user_name", "PUT", "/api/users/{user_id}/name", takes_key=True
)
DELETE_USER: Final = Operation(
    "delete_user", "DELETE", "/api/users/{user_id}", takes_key=True
)
GET_USER: Final = Operation(
    "get_user", "GET", "/api/users/{user_id}", takes_min_position=True
)
PUT_USER_DISABLED: Final = Operation(
    "put_user_disabled", "PUT", "/api/users/{user_id}/disabled", takes_key=True
)
DELETE_USER_DISABLED: Final = Operation(
    "delete_user_disabled", "DELETE", "/api/users/{user_id}/disabled", takes_key=True
)
POST_USER_TOKEN: Final = Operation(
    "post_user_token", "POST", "/api/users/{user_id}/tokens", takes_key=True
)
GET_USER_TOKENS: Final = Operation(
    "get_user_tokens", "GET", "/api/users/{user_id}/tokens", takes_min_position=True
)
DELETE_USER_TOKEN: Final = Operation(
    "delete_user_token",
    "DELETE",
    "/api/users/{user_id}/tokens/{token_id}",
    takes_key=True,
)
GET_ME: Final = Operation("get_me", "GET", "/api/users/me")
GET_USER_BY_NAME: Final = Operation(
    "get_user_by_name", "GET", "/api/users/by-name/{user_name}", takes_min_position=True
)
POST_AGENT: Final = Operation(
    "post_agent", "POST", "/api/catalog/agents", takes_key=True
)
GET_AGENTS: Final = Operation(
    "get_agents", "GET", "/api/catalog/agents", takes_min_position=True
)
PUT_AGENT: Final = Operation(
    "put_agent", "PUT", "/api/catalog/agents/{agent_id}", takes_key=True
)
DELETE_AGENT: Final = Operation(
    "delete_agent", "DELETE", "/api/catalog/agents/{agent_id}", takes_key=True
)
GET_AGENT: Final = Operation(
    "get_agent", "GET", "/api/catalog/agents/{agent_id}", takes_min_position=True
)
PUT_AGENT_MANAGER: Final = Operation(
    "put_agent_manager",
    "PUT",
    "/api/catalog/agents/{agent_id}/managers/{user_id}",
    takes_key=True,
)
DELETE_AGENT_MANAGER: Final = Operation(
    "delete_agent_manager",
    "DELETE",
    "/api/catalog/agents/{agent_id}/managers/{user_id}",
    takes_key=True,
)
PUT_AGENT_READER: Final = Operation(
    "put_agent_reader",
    "PUT",
    "/api/catalog/agents/{agent_id}/readers/{user_id}",
    takes_key=True,
)
DELETE_AGENT_READER: Final = Operation(
    "delete_agent_reader",
    "DELETE",
    "/api/catalog/agents/{agent_id}/readers/{user_id}",
    takes_key=True,
)
POST_AGENT_TOKEN: Final = Operation(
    "post_agent_token", "POST", "/api/mcp/agents/{agent_id}/tokens", takes_key=True
)
GET_AGENT_TOKENS: Final = Operation(
    "get_agent_tokens", "GET", "/api/mcp/agents/{agent_id}/tokens"
)
DELETE_AGENT_TOKEN: Final = Operation(
    "delete_agent_token",
    "DELETE",
    "/api/mcp/agents/{agent_id}/tokens/{agent_token_id}",
    takes_key=True,
)
POST_CONNECTOR: Final = Operation(
    "post_connector", "POST", "/api/mcp/connectors", takes_key=True
)
GET_CONNECTORS: Final = Operation(
    "get_connectors", "GET", "/api/mcp/connectors", takes_min_position=True
)
PUT_CONNECTOR: Final = Operation(
    "put_connector", "PUT", "/api/mcp/connectors/{id}", takes_key=True
)
DELETE_CONNECTOR: Final = Operation(
    "delete_connector", "DELETE", "/api/mcp/connectors/{id}", takes_key=True
)
GET_CONNECTOR: Final = Operation(
    "get_connector", "GET", "/api/mcp/connectors/{id}", takes_min_position=True
)
POST_PUBLIC_GRANT: Final = Operation(
    "post_public_grant",
    "POST",
    "/api/mcp/connectors/{id}/grants/public",
    takes_key=True,
)
DELETE_PUBLIC_GRANT: Final = Operation(
    "delete_public_grant",
    "DELETE",
    "/api/mcp/connectors/{id}/grants/public",
    takes_key=True,
)
PUT_CONNECTOR_OWNER: Final = Operation(
    "put_connector_owner",
    "PUT",
    "/api/mcp/connectors/{id}/owner/{user_id}",
    takes_key=True,
)
DELETE_CONNECTOR_OWNER_OFFER: Final = Operation(
    "delete_connector_owner_offer",
    "DELETE",
    "/api/mcp/connectors/{id}/owner/{user_id}",
    takes_key=True,
)
PUT_AGENT_GRANT: Final = Operation(
    "put_agent_grant",
    "PUT",
    "/api/mcp/connectors/{id}/grants/agents/{agent_id}",
    takes_key=True,
)
DELETE_AGENT_GRANT: Final = Operation(
    "delete_agent_grant",
    "DELETE",
    "/api/mcp/connectors/{id}/grants/agents/{agent_id}",
    takes_key=True,
)
BULK_UPDATE_TOOLS: Final = Operation(
    "bulk_update_tools", "PUT", "/api/mcp/agents/{agent_id}/tools", takes_key=True
)
GET_AGENT_TOOLS: Final = Operation(
    "get_agent_tools",
    "GET",
    "/api/mcp/agents/{agent_id}/tools",
    takes_min_position=True,
)
POST_TOOL_RULES_PREVIEW: Final = Operation(
    "post_tool_rules_preview",
    "POST",
    "/api/mcp/agents/{agent_id}/tools/preview",
    takes_key=True,
)
POST_TOOL_RULES_RESTORE: Final = Operation(
    "post_tool_rules_restore",
    "POST",
    "/api/mcp/agents/{agent_id}/tools/restore",
    takes_key=True,
)
DELETE_CONNECTOR_RULES: Final = Operation(
    "delete_connector_rules",
    "DELETE",
    "/api/mcp/agents/{agent_id}/tools/connectors/{connector_id}",
    takes_key=True,
)
GET_TOOL_EXPLANATION: Final = Operation(
    "get_tool_explanation",
    "GET",
    "/api/mcp/agents/{agent_id}/tools/explain",
    takes_min_position=True,
)
GET_CONNECTOR_TOOLS: Final = Operation(
    "get_connector_tools",
    "GET",
    "/api/mcp/connectors/{id}/tools",
    takes_min_position=True,
)
GET_AGENT_GATEWAY: Final = Operation(
    "get_agent_gateway", "GET", "/api/mcp/agents/{agent_id}/gateway"
)
PUT_AGENT_GATEWAY: Final = Operation(
    "put_agent_gateway", "PUT", "/api/mcp/agents/{agent_id}/gateway", takes_key=True
)
PUT_CONNECTOR_GATEWAY: Final = Operation(
    "put_connector_gateway", "PUT", "/api/mcp/connectors/{id}/gateway", takes_key=True
)
PUT_CONNECTOR_CREDENTIAL: Final = Operation(
    "put_connector_credential",
    "PUT",
    "/api/mcp/connectors/{id}/credential",
    takes_key=True,
)
DELETE_CONNECTOR_CREDENTIAL: Final = Operation(
    "delete_connector_credential",
    "DELETE",
    "/api/mcp/connectors/{id}/credential",
    takes_key=True,
)
GET_DEFINITIONS: Final = Operation(
    "get_definitions", "GET", "/api/mcp/connectors/{id}/definitions"
)
POST_DEFINITIONS_ACCEPT: Final = Operation(
    "post_definitions_accept",
    "POST",
    "/api/mcp/connectors/{id}/definitions/accept",
    takes_key=True,
)
GET_CONNECTOR_HEALTH: Final = Operation(
    "get_connector_health", "GET", "/api/mcp/connectors/{id}/health"
)
POST_CONNECTOR_OBSERVE: Final = Operation(
    "post_connector_observe", "POST", "/api/mcp/connectors/{id}/observe"
)
GET_APPROVAL: Final = Operation(
    "get_approval", "GET", "/api/mcp/agents/{agent_id}/approvals/{approval_id}"
)
POST_APPROVAL_APPROVE: Final = Operation(
    "post_approval_approve",
    "POST",
    "/api/mcp/agents/{agent_id}/approvals/{approval_id}/approve",
    takes_key=True,
)
POST_APPROVAL_REFUSE: Final = Operation(
    "post_approval_refuse",
    "POST",
    "/api/mcp/agents/{agent_id}/approvals/{approval_id}/refuse",
    takes_key=True,
)
POST_APPROVAL_WITHDRAW: Final = Operation(
    "post_approval_withdraw",
    "POST",
    "/api/mcp/agents/{agent_id}/approvals/{approval_id}/withdraw",
    takes_key=True,
)
GET_CALLS: Final = Operation(
    "get_calls", "GET", "/api/mcp/calls", takes_min_position=True
)
GET_CALL: Final = Operation(
    "get_call", "GET", "/api/mcp/calls/{call_id}", takes_min_position=True
)
GET_APPROVALS: Final = Operation(
    "get_approvals", "GET", "/api/mcp/approvals", takes_min_position=True
)
POST_SECRET: Final = Operation("post_secret", "POST", "/api/secrets", takes_key=True)
GET_SECRETS: Final = Operation(
    "get_secrets", "GET", "/api/secrets", takes_min_position=True
)
PUT_SECRET: Final = Operation(
    "put_secret", "PUT", "/api/secrets/{name}", takes_key=True
)
DELETE_SECRET_BY_NAME: Final = Operation(
    "delete_secret_by_name", "DELETE", "/api/secrets/{name}", takes_key=True
)
GET_SECRET: Final = Operation(
    "get_secret", "GET", "/api/secrets/{name}", takes_min_position=True
)
POST_SECRET_RESTORE: Final = Operation(
    "post_secret_restore",
    "POST",
    "/api/secrets/{name}/versions/{version}/restore",
    takes_key=True,
)
GET_SECRET_VALUE: Final = Operation(
    "get_secret_value", "GET", "/api/secrets/{name}/value"
)
DELETE_USER_KEY: Final = Operation(
    "delete_user_key", "DELETE", "/api/users/{user_id}/key", takes_key=True
)
POST_SESSION: Final = Operation(
    "post_session", "POST", "/api/observability/session", takes_key=True
)
POST_TURN: Final = Operation(
    "post_turn", "POST", "/api/observability/session/{session_id}/turns", takes_key=True
)
POST_SESSION_END: Final = Operation(
    "post_session_end",
    "POST",
    "/api/observability/session/{session_id}/end",
    takes_key=True,
)
GET_SESSION_LIST: Final = Operation(
    "get_session_list",
    "GET",
    "/api/observability/session/list",
    takes_min_position=True,
)
GET_SESSION: Final = Operation(
    "get_session",
    "GET",
    "/api/observability/session/{session_id}",
    takes_min_position=True,
)
POST_TRACES: Final = Operation("post_traces", "POST", "/v1/traces")
POST_LOGS: Final = Operation("post_logs", "POST", "/v1/logs")
POST_METRICS: Final = Operation("post_metrics", "POST", "/v1/metrics")
GET_USAGE: Final = Operation("get_usage", "GET", "/api/usage", takes_min_position=True)
GET_USAGE_CSV: Final = Operation(
    "get_usage_csv", "GET", "/api/usage/export.csv", takes_min_position=True
)
POST_PROVIDER: Final = Operation(
    "post_provider", "POST", "/api/llm-router/providers", takes_key=True
)
GET_PROVIDERS: Final = Operation(
    "get_providers", "GET", "/api/llm-router/providers", takes_min_position=True
)
POST_PRICE: Final = Operation(
    "post_price", "POST", "/api/llm-router/prices", takes_key=True
)
GET_PRICES: Final = Operation(
    "get_prices", "GET", "/api/llm-router/prices", takes_min_position=True
)
POST_PRICE_END: Final = Operation(
    "post_price_end",
    "POST",
    "/api/llm-router/models/{model_id}/prices/{price_version}/end",
    takes_key=True,
)
POST_PRICE_CORRECTION: Final = Operation(
    "post_price_correction",
    "POST",
    "/api/llm-router/models/{model_id}/prices/{price_version}/corrections",
    takes_key=True,
)
POST_CONTRACT: Final = Operation(
    "post_contract", "POST", "/api/llm-router/contracts", takes_key=True
)
GET_CONTRACTS: Final = Operation(
    "get_contracts", "GET", "/api/llm-router/contracts", takes_min_position=True
)
POST_CONTRACT_END: Final = Operation(
    "post_contract_end",
    "POST",
    "/api/llm-router/contracts/{provider_id}/prices/{price_version}/end",
    takes_key=True,
)
POST_CONTRACT_CORRECTION: Final = Operation(
    "post_contract_correction",
    "POST",
    "/api/llm-router/contracts/{provider_id}/prices/{price_version}/corrections",
    takes_key=True,
)
POST_REPRICE: Final = Operation("post_reprice", "POST", "/api/llm-router/reprice")
POST_GENAI_PRICES_IMPORT: Final = Operation(
    "post_genai_prices_import", "POST", "/api/llm-router/prices/imports/genai-prices"
)
POST_LITELLM_IMPORT: Final = Operation(
    "post_litellm_import", "POST", "/api/llm-router/prices/imports/litellm"
)
POST_MODEL_CONNECTION: Final = Operation(
    "post_model_connection", "POST", "/api/llm-router/connections", takes_key=True
)
GET_MODEL_CONNECTIONS: Final = Operation(
    "get_model_connections",
    "GET",
    "/api/llm-router/connections",
    takes_min_position=True,
)
PUT_MODEL_CONNECTION: Final = Operation(
    "put_model_connection",
    "PUT",
    "/api/llm-router/connections/{connection_id}",
    takes_key=True,
)
DELETE_MODEL_CONNECTION: Final = Operation(
    "delete_model_connection",
    "DELETE",
    "/api/llm-router/connections/{connection_id}",
    takes_key=True,
)
GET_MODEL_CONNECTION: Final = Operation(
    "get_model_connection",
    "GET",
    "/api/llm-router/connections/{connection_id}",
    takes_min_position=True,
)
POST_PRESET: Final = Operation(
    "post_preset", "POST", "/api/llm-router/presets", takes_key=True
)
GET_PRESETS: Final = Operation(
    "get_presets", "GET", "/api/llm-router/presets", takes_min_position=True
)
PUT_PRESET: Final = Operation(
    "put_preset", "PUT", "/api/llm-router/presets/{preset_id}", takes_key=True
)
DELETE_PRESET: Final = Operation(
    "delete_preset", "DELETE", "/api/llm-router/presets/{preset_id}", takes_key=True
)
GET_PRESET: Final = Operation(
    "get_preset", "GET", "/api/llm-router/presets/{preset_id}", takes_min_position=True
)
POST_PRESET_PREVIEW: Final = Operation(
    "post_preset_preview",
    "POST",
    "/api/llm-router/presets/{preset_id}/preview",
    takes_key=True,
    takes_min_position=True,
)
POST_PRESET_RESTORE: Final = Operation(
    "post_preset_restore",
    "POST",
    "/api/llm-router/presets/{preset_id}/restore",
    takes_key=True,
)
PUT_PRESET_AGENT: Final = Operation(
    "put_preset_agent",
    "PUT",
    "/api/llm-router/presets/{preset_id}/agents/{agent_id}",
    takes_key=True,
)
DELETE_PRESET_AGENT: Final = Operation(
    "delete_preset_agent",
    "DELETE",
    "/api/llm-router/presets/{preset_id}/agents/{agent_id}",
    takes_key=True,
)
PUT_TIERS: Final = Operation(
    "put_tiers", "PUT", "/api/llm-router/tiers", takes_key=True
)
GET_TIERS: Final = Operation(
    "get_tiers", "GET", "/api/llm-router/tiers", takes_min_position=True
)
POST_TIERS_PREVIEW: Final = Operation(
    "post_tiers_preview",
    "POST",
    "/api/llm-router/tiers/preview",
    takes_key=True,
    takes_min_position=True,
)
POST_TIERS_RESTORE: Final = Operation(
    "post_tiers_restore", "POST", "/api/llm-router/tiers/restore", takes_key=True
)
PUT_MODEL_ROUTING: Final = Operation(
    "put_model_routing", "PUT", "/api/agents/{agent_id}/llm-routing", takes_key=True
)
GET_MODEL_ROUTING: Final = Operation(
    "get_model_routing",
    "GET",
    "/api/agents/{agent_id}/llm-routing",
    takes_min_position=True,
)
POST_MODEL_ROUTING_RESTORE: Final = Operation(
    "post_model_routing_restore",
    "POST",
    "/api/agents/{agent_id}/llm-routing/restore",
    takes_key=True,
)
GET_AGENT_MODELS: Final = Operation(
    "get_agent_models", "GET", "/api/agents/{agent_id}/llm-routing/models"
)
POST_MODEL_ROUTING_PREVIEW: Final = Operation(
    "post_model_routing_preview",
    "POST",
    "/api/agents/{agent_id}/llm-routing/preview",
    takes_key=True,
    takes_min_position=True,
)
GET_MODEL_ROUTING_EXPLANATION: Final = Operation(
    "get_model_routing_explanation",
    "GET",
    "/api/agents/{agent_id}/llm-routing/explain",
    takes_min_position=True,
)
GET_MODEL_CALLS: Final = Operation(
    "get_model_calls", "GET", "/api/llm-router/calls", takes_min_position=True
)
GET_MODEL_CALL: Final = Operation(
    "get_model_call",
    "GET",
    "/api/llm-router/calls/{model_call_id}",
    takes_min_position=True,
)
GET_AUDIT_EVENTS: Final = Operation(
    "get_audit_events", "GET", "/api/audit/events", takes_min_position=True
)
GET_AUDIT_EVENT: Final = Operation(
    "get_audit_event", "GET", "/api/audit/events/{position}"
)
GET_AUDIT_JSONL: Final = Operation(
    "get_audit_jsonl", "GET", "/api/audit/export.jsonl", takes_min_position=True
)
GET_AUDIT_CSV: Final = Operation(
    "get_audit_csv", "GET", "/api/audit/export.csv", takes_min_position=True
)
GET_AUDIT_STREAM: Final = Operation("get_audit_stream", "GET", "/api/audit/stream")
GET_AGGREGATE: Final = Operation(
    "get_aggregate", "GET", "/api/audit/aggregates/{aggregate_id}"
)
GET_AGGREGATE_DIFFERENCE: Final = Operation(
    "get_aggregate_difference", "GET", "/api/audit/aggregates/{aggregate_id}/difference"
)
GET_CONNECTOR_EXPOSURE: Final = Operation(
    "get_connector_exposure", "GET", "/api/audit/connectors/{id}/exposure"
)
GET_DECISIONS_DIFFERENCE: Final = Operation(
    "get_decisions_difference",
    "GET",
    "/api/audit/agents/{agent_id}/decisions/difference",
)
GET_CHECKPOINT: Final = Operation("get_checkpoint", "GET", "/api/audit/checkpoint")
GET_CHECKPOINT_KEY: Final = Operation(
    "get_checkpoint_key", "GET", "/api/audit/checkpoint/key"
)
GET_INCLUSION_PROOF: Final = Operation(
    "get_inclusion_proof", "GET", "/api/audit/proofs/inclusion", takes_min_position=True
)
GET_CONSISTENCY_PROOF: Final = Operation(
    "get_consistency_proof",
    "GET",
    "/api/audit/proofs/consistency",
    takes_min_position=True,
)
GET_OPENAPI: Final = Operation("get_openapi", "GET", "/openapi.json", public=True)
GET_DOCS: Final = Operation("get_docs", "GET", "/docs", public=True)
GET_ASYNCAPI: Final = Operation("get_asyncapi", "GET", "/asyncapi.json", public=True)
GET_EVENT_SCHEMA: Final = Operation(
    "get_event_schema", "GET", "/schemas/events/{name}", public=True
)
GET_LIVEZ: Final = Operation("get_livez", "GET", "/livez", public=True)
GET_READYZ: Final = Operation("get_readyz", "GET", "/readyz", public=True)
GET_METRICS: Final = Operation("get_metrics", "GET", "/metrics", public=True)
