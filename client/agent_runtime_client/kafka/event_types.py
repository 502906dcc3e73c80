"""What each published event carries. Made by ``make generated``; do not edit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConnectionEditedV1:
    """The connection has these settings from now on.

    Emitted by `PUT /api/llm-router/connections/{connection_id}`.
    """

    settings: Mapping[str, Any]
    previous: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConnectionRegisteredV1:
    """A connection to a server of models was registered.

    Emitted by `POST /api/llm-router/connections`.
    """

    owner_id: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceCorrectedV1:
    """The price of a period was wrong; this one replaces it."""

    corrects: int
    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceSetV1:
    """A price is valid in a period; it ends the open price `closes`."""

    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]
    closes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnAmendedV1:
    """The turn with spans that arrived later; it replaces the earlier one."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnAmendedV2:
    """The turn with spans that arrived later; it replaces the earlier one."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnAmendedV3:
    """The turn with spans that arrived later; it replaces the earlier one."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnAmendedV4:
    """The turn with spans that arrived later; it replaces the earlier one."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    estimated: Sequence[str]
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRecordedV1:
    """A turn took place; a cost of null is unknown."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRecordedV2:
    """A turn took place; a cost of null is unknown."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRecordedV3:
    """A turn took place; a cost of null is unknown."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRecordedV4:
    """A turn took place; a cost of null is unknown."""

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    estimated: Sequence[str]
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRepricedV1:
    """A turn has another cost by the prices that are known now."""

    agent_id: str
    user_id: str
    turn_id: str
    started_at: str
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    is_error: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None
    replaced: Mapping[str, Any]
    replaced_shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRepricedV2:
    """A turn has another cost by the prices that are known now."""

    agent_id: str
    user_id: str
    turn_id: str
    started_at: str
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    reported_cost: str | None
    estimated: Sequence[str]
    is_error: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None
    replaced: Mapping[str, Any]
    replaced_shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuedV1:
    """A token proves this user; the subject only stands for the token."""

    user_id: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRefusedV1:
    """Calls were refused: ``times`` since the last event about such calls."""

    agent_id: str
    user_id: str | None
    connector_id: str | None
    tool: str | None
    reason: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRefusedV2:
    """Calls were refused: `times` since the last event about such calls.

    `tool` is null if the connector, or the agent's list, has no such tool, and
    where the agent doesn't hold the connector. `reason` is `unknown_tool`,
    `connector_not_granted`, `denied`, `definition_changed`, `approval_refused`,
    `approval_expired`, `approval_withdrawn`, `too_many_approvals`,
    `credential_missing`, `too_many_calls`, `circuit_open`, `not_connected` (to
    its upstream, or no agreement with it on the protocol) or `cancelled` (by its
    client, before it could be sent). `session_id` and `trace_id` are null where
    the call names none, and in a flood of calls that name too many. Emitted by
    `tools/call` at `/mcp/agents/{agent_id}`, at most once a second for an agent,
    connector, tool, reason and turn of a session.
    """

    agent_id: str
    user_id: str | None
    connector_id: str | None
    tool: str | None
    reason: str
    times: int
    session_id: str | None
    trace_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCreatedV1:
    """A user was created; the name is theirs permanently."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegisteredV1:
    """An agent was registered; its creator is its first manager.

    Emitted by `POST /api/catalog/agents`.
    """

    name: str
    description: str
    manager_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEditedV1:
    """The agent has this name and description from now on.

    Emitted by `PUT /api/catalog/agents/{agent_id}`.
    """

    name: str
    description: str
    previous_name: str
    previous_description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRetiredV1:
    """The agent was retired permanently; all of its tools are denied.

    Its grants have no effect any more, and its rules can't be changed. Emitted by
    `DELETE /api/catalog/agents/{agent_id}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentManagerAppointedV1:
    """The user now manages the agent.

    Emitted by `PUT /api/catalog/agents/{agent_id}/managers/{user_id}`.
    """

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentManagerDismissedV1:
    """The user no longer manages the agent.

    Emitted by `DELETE /api/catalog/agents/{agent_id}/managers/{user_id}`.
    """

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReaderAppointedV1:
    """The user may now read the agent's rules and explain its decisions.

    Emitted by `PUT /api/catalog/agents/{agent_id}/readers/{user_id}`.
    """

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReaderDismissedV1:
    """The user may no longer read the agent's rules as its reader.

    Emitted by `DELETE /api/catalog/agents/{agent_id}/readers/{user_id}`.
    """

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentToolSearchChangedV1:
    """A longer list of the agent's tools is searched from now on, not sent.

    Null: it is always sent. Emitted by `PUT /api/mcp/agents/{agent_id}/gateway`.
    """

    tools_listed_max: int | None
    previous_tools_listed_max: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTokensCreatedV1:
    """An agent gets its first token; the next event says which.

    Emitted by `POST /api/mcp/agents/{agent_id}/tokens`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTokensIssuedV1:
    """A token lets this agent call its tools, for this user where it names one.

    `token_id` is a keyed hash of the token. A token without `expires_at` is valid
    until it is revoked. `dropped` are tokens that have expired and no longer
    count towards the limit. Emitted by `POST /api/mcp/agents/{agent_id}/tokens`.
    """

    agent_id: str
    user_id: str | None
    issued_by: str
    label: str
    issued_at: str
    expires_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTokensRevokedV1:
    """A token of the agent was revoked: no call is admitted with it any more.

    Emitted by `DELETE /api/mcp/agents/{agent_id}/tokens/{agent_token_id}`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsCreatedV1:
    """An agent needs its first approval; the next event says for what.

    Emitted by `tools/call` at `/mcp/agents/{agent_id}`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsRequestedV1:
    """A person is asked whether an agent may call a tool once, until `expires_at`.

    The id is a keyed digest of agent, token, connector, tool, definition and
    arguments; it is the same each time that the same call is asked for.
    `sealed_id` names the sealed arguments, which are destroyed when the approval
    is closed. Emitted by `tools/call` at `/mcp/agents/{agent_id}`.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    user_id: str | None
    definition: str
    requested_at: str
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsApprovedV1:
    """A person lets the agent make the call once, until `expires_at`.

    Emitted by `POST /api/mcp/agents/{agent_id}/approvals/{approval_id}/approve`.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    by: str
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsRefusedV1:
    """A person refused the call.

    `sealed_ids` name the arguments, which the follower `destruction` deletes.
    Emitted by `POST /api/mcp/agents/{agent_id}/approvals/{approval_id}/refuse`.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsWithdrawnV1:
    """A person took an approval, or the question, back.

    `sealed_ids` name the arguments, which the follower `destruction` deletes.
    Emitted by `POST /api/mcp/agents/{agent_id}/approvals/{approval_id}/withdraw`.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsExpiredV1:
    """An approval was neither decided on nor used in time.

    `sealed_ids` name the arguments, which the follower `destruction` deletes.
    Emitted after its time, by the gateway or the next call.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsExpiryToldV1:
    """The agent called again and was told of the expiry; its next call asks anew.

    Emitted by `tools/call` at `/mcp/agents/{agent_id}`.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsUsedV1:
    """An approval was used up by a call, which the same command has admitted.

    `sealed_ids` name the arguments, which the follower `destruction` deletes.
    Emitted by `tools/call` at `/mcp/agents/{agent_id}`.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsArgumentsReadV1:
    """The arguments of a call are about to be shown to an approver.

    Emitted by `GET /api/mcp/agents/{agent_id}/approvals/{approval_id}`.
    """

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReadV1:
    """A user reads history, by one request, export or stream.

    `asked` holds the request's parameters as text, as they were given. Emitted by
    every `GET` under `/api/audit` except checkpoints and proofs, before it
    answers.
    """

    operation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedV1:
    """A session of a user with an agent has started.

    Emitted by `POST /api/observability/session`.
    """

    session_id: str
    agent_id: str
    user_id: str
    started_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRecordedV5:
    """A turn took place; a cost of null is unknown.

    Amounts are decimals as text, times ISO 8601 in UTC. Texts are sealed (AEV1,
    purpose `text`), bound to the user, this aggregate's id, this event's version
    and the field's name. Agent and user are the session's, repeated for consumers
    of single events. `price_id` names the price event that the cost was computed
    from, `priced_as` the entry of the catalog and `pricing_rule` how it matched;
    `unpriced` says why there is no cost: `no_such_model`, `no_price_then`,
    `count_missing`, `counts_contradict`, `contract_lacks_rate` or
    `several_currencies`. `contract_id` names the event of the contract price that
    the cost rests on; `list_cost` is the cost by list prices alone. `estimated`
    names what the telemetry didn't tell for certain though the price depends on
    it, such as `service_tier`; then the cost is an estimate. `reported_cost` is
    the cost in US dollars that the provider or the instrumentation reports.
    `spans`: how many spans the turn was made from; null for a turn reported as
    such. `shares`: what each model used, if several did; then `model` is the one
    that used most. `calls`: what each model call of a turn from spans used; null
    if an earlier version recorded it. Emitted by `POST
    /api/observability/session/{session_id}/turns` and `POST /v1/traces`.
    """

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    contract_id: str | None
    list_cost: str | None
    list_currency: str | None
    reported_cost: str | None
    estimated: Sequence[str]
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnAmendedV5:
    """The turn with spans that arrived later; it replaces the earlier one.

    All of it is repeated. Emitted by `POST /v1/traces`.
    """

    agent_id: str
    user_id: str
    turn_id: str
    trace_id: str | None
    started_at: str
    ended_at: str
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    contract_id: str | None
    list_cost: str | None
    list_currency: str | None
    reported_cost: str | None
    estimated: Sequence[str]
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRepricedV3:
    """A turn has another cost by the prices that are known now.

    `replaced` says how the turn was priced before, `replaced_shares` how each
    model's share was. The other fields are those of the turn with the new cost.
    Emitted by `POST /api/llm-router/reprice`.
    """

    agent_id: str
    user_id: str
    turn_id: str
    started_at: str
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: str | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    contract_id: str | None
    list_cost: str | None
    list_currency: str | None
    reported_cost: str | None
    estimated: Sequence[str]
    is_error: bool
    spans: int | None
    shares: Sequence[Mapping[str, Any]] | None
    replaced: Mapping[str, Any]
    replaced_shares: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEndedV1:
    """The session has ended; late turns may still arrive.

    Emitted by `POST /api/observability/session/{session_id}/end`.
    """

    ended_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRegisteredV1:
    """A connector was registered, private to its owner.

    Emitted by `POST /api/mcp/connectors`.
    """

    owner_id: str
    name: str
    url: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorEditedV1:
    """The connector has this name, URL and description from now on.

    Emitted by `PUT /api/mcp/connectors/{id}`.
    """

    name: str
    url: str
    description: str
    previous_name: str
    previous_url: str
    previous_description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorOwnershipOfferedV1:
    """The connector was offered to a new owner, who has not accepted yet.

    It replaces an earlier offer. Emitted by `PUT
    /api/mcp/connectors/{id}/owner/{user_id}`.
    """

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorOwnershipOfferWithdrawnV1:
    """The offer to a new owner was withdrawn or declined.

    Emitted by `DELETE /api/mcp/connectors/{id}/owner/{user_id}`.
    """

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorHandedOverV1:
    """The connector has another owner; grants and publication remain.

    The new owner's secret is sent only for grants to which their side consents
    anew. Emitted by `PUT /api/mcp/connectors/{id}/owner/{user_id}`.
    """

    owner_id: str
    previous_owner_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorMadePublicV1:
    """The connector's definition is shared with everyone.

    This gives the connector's consent to any grant. Emitted by `POST
    /api/mcp/connectors/{id}/grants/public`.
    """

    by: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorMadePrivateV1:
    """The connector is private again; existing grants remain.

    Emitted by `DELETE /api/mcp/connectors/{id}/grants/public`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantOfferedV1:
    """One side has consented to a grant; the other has not yet.

    `side` is `connector` or `agent`. It follows a second time when a new owner
    repeats an offer of the former one. Emitted by `PUT
    /api/mcp/connectors/{id}/grants/agents/{agent_id}`.
    """

    agent_id: str
    side: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantedToAgentV1:
    """Both sides have consented; the agent holds the connector.

    It follows a second time when the connector's side consents itself to a grant
    to which being public, or a former owner, had consented: from then on the
    owner's secret is sent for it. Emitted by `PUT
    /api/mcp/connectors/{id}/grants/agents/{agent_id}`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantRevokedV1:
    """A grant, or an offer of one, was revoked.

    Emitted by `DELETE /api/mcp/connectors/{id}/grants/agents/{agent_id}`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRetiredV1:
    """The connector was retired permanently; no agent holds it.

    Emitted by `DELETE /api/mcp/connectors/{id}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorSlugChangedV1:
    """The connector's tools have this prefix in an agent's list from now on.

    It is the previous one if that followed from the name, and stays now. Emitted
    by `PUT /api/mcp/connectors/{id}/gateway`.
    """

    slug: str
    previous_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRecordModeChangedV1:
    """The connector's calls are recorded in this mode from now on.

    `strict`: each call is admitted by an event of its own before it is forwarded.
    `batched`: calls are recorded in groups, after they were decided. Emitted by
    `PUT /api/mcp/connectors/{id}/gateway`.
    """

    record_mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorProtocolRevisionSetV1:
    """The gateway speaks this revision of MCP with the connector's server.

    Null: it finds out which one the server speaks. Emitted by `PUT
    /api/mcp/connectors/{id}/gateway`.
    """

    protocol_revision: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorCredentialAttachedV1:
    """The gateway sends a secret's value to the connector from now on.

    `whose` is `owner` or `caller`; `secret_name` is the owner's secret, null if
    it is the caller's. `scheme` stands before the value in the header, if any. It
    replaces an earlier setting. Emitted by `PUT
    /api/mcp/connectors/{id}/credential`.
    """

    whose: str
    secret_name: str | None
    header: str
    scheme: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorCredentialDetachedV1:
    """The gateway sends the connector no secret any more.

    Emitted by `DELETE /api/mcp/connectors/{id}/credential`; also when the
    connector moves to another host, or another owner.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEpochChangedV1:
    """The log has a new epoch, because its end may have been lost.

    `position` is the last one that both epochs share; later positions mean other
    events in the new epoch. `reason` is `fail_over` if the service found a server
    that lacks events, or may lack some, after a promotion, a point-in-time
    recovery or a restore into another server; otherwise `restore`. `signed_size`
    and `signed_root` (base64) are those of the newest checkpoint of the old epoch
    that the service has, null for none. Emitted once for each new epoch, a few
    seconds after it began.
    """

    old_epoch: str
    new_epoch: str
    position: int
    reason: str
    signed_size: int | None
    signed_root: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRulesListedV1:
    """The rules of a price list are imported for the first time.

    Emitted by imports of price lists.
    """

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRulesProviderChangedV1:
    """The rules for a provider's names have changed.

    `models` has the rule of each model whose rule differs, null for none; `order`
    all models in order of precedence, and `providers` all providers, null if
    unchanged. Rules are alternatives of tests. Emitted by imports of price lists.
    """

    provider: str
    effective_from: str
    rules: Mapping[str, Any] | None
    models: Mapping[str, Sequence[Sequence[Mapping[str, Any]]] | None]
    order: Sequence[str] | None
    providers: Sequence[str] | None
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallAdmittedV1:
    """A call was admitted, and is sent only after this event, at once.

    There is a connection to its provider, and nothing but the call is left to
    send. `versions` are those of the aggregates that the decision read; had one
    moved, the log would have refused the event. `asked_for` is the name that the
    client sent, null for one that no model could have; `route` is the pattern
    that decided, `tier` the tier that it names. `model` is what the connection is
    asked for. `chosen_by` says why this target is the first: `response` (it made
    the one that the call continues), `session` (that stays with it), `weight`, or
    `window` (the prompt fits nowhere, and here the most of it). `counts_only`:
    the call counts tokens and writes nothing. `secret` is whose secret is sent
    along. Emitted by the operations below `/llm/agents/{agent_id}`.
    """

    agent_id: str
    user_id: str | None
    dialect: str
    counts_only: bool
    asked_for: str | None
    route: str
    tier: str | None
    preset_id: str
    connection_id: str
    model: str
    chosen_by: str
    session_id: str | None
    trace_id: str | None
    versions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallRepeatedV1:
    """A call is sent once more: to another target, or by another connection.

    `attempt` counts from 1, which was the admission. Its decision was made anew.
    Emitted by the operations below `/llm/agents/{agent_id}`.
    """

    attempt: int
    preset_id: str
    connection_id: str
    model: str
    versions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallFinishedV1:
    """An admitted call has ended.

    Emitted by the operations below `/llm/agents/{agent_id}`, shortly after.
    """

    how: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallBatchedV1:
    """Calls of an agent were admitted, or have ended, in the mode `batched`.

    A call is in `admitted` of one event, once for each attempt, and in `finished`
    of the same or a later one. `token_ids` and `secrets` belong to `admitted`,
    `digests` to `finished`. Emitted by the operations below
    `/llm/agents/{agent_id}`, within 100 ms.
    """

    agent_id: str
    admitted: Sequence[Mapping[str, Any]]
    finished: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallRefusedV1:
    """Calls were refused: `times` since the last event about such calls.

    Nothing was sent to a provider. `asked_for` is the name that the client sent,
    null for one that no model could have, and in a flood of other names. `reason`
    is the code of the error that the agent got, such as `model_not_found`,
    `wrong_dialect`, `malformed_request`, `too_many_calls` or `no_answer` (no
    provider could be connected to); or `cancelled` (by its client). `session_id`
    and `trace_id` are null where the call names none, and in a flood of calls
    that name too many. Emitted by the operations below `/llm/agents/{agent_id}`,
    at most once a second for an agent, token, dialect, name, reason and turn of a
    session.
    """

    agent_id: str
    user_id: str | None
    dialect: str
    asked_for: str | None
    reason: str
    times: int
    session_id: str | None
    trace_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConnectionRegisteredV2:
    """A connection to a server of models was registered.

    Emitted by `POST /api/llm-router/connections`.
    """

    owner_id: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConnectionEditedV2:
    """The connection has these settings from now on.

    Emitted by `PUT /api/llm-router/connections/{connection_id}`.
    """

    settings: Mapping[str, Any]
    previous: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConnectionRetiredV1:
    """The connection was retired permanently: no call uses it any more.

    Emitted by `DELETE /api/llm-router/connections/{connection_id}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPresetMadeV1:
    """A preset was made. Emitted by `POST /api/llm-router/presets`."""

    owner_id: str
    terms: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPresetEditedV1:
    """The preset has these terms from now on.

    Emitted by `PUT /api/llm-router/presets/{preset_id}` and `POST /api/llm-
    router/presets/{preset_id}/restore`.
    """

    terms: Mapping[str, Any]
    previous: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPresetGrantedToAgentV1:
    """The agent may be routed to the preset, also while that is private.

    Emitted by `PUT /api/llm-router/presets/{preset_id}/agents/{agent_id}`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPresetGrantRevokedV1:
    """The agent may no longer be routed to the preset, unless that is public.

    Emitted by `DELETE /api/llm-router/presets/{preset_id}/agents/{agent_id}`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPresetRetiredV1:
    """The preset was retired permanently: no agent is routed to it any more.

    Emitted by `DELETE /api/llm-router/presets/{preset_id}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingListedV1:
    """A model gets its first price; the next event holds it.

    Emitted by `POST /api/llm-router/prices` and imports of price lists.
    """

    provider_id: str
    provider_key: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceSetV2:
    """A price is valid in a period; it ends the open price `closes`.

    `closes` is the price whose open period ends where this one starts. Emitted by
    `POST /api/llm-router/prices` and imports of price lists.
    """

    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]
    closes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceEndedV1:
    """A price ends earlier; one that ends at its start is never valid.

    Emitted by `POST /api/llm-
    router/models/{model_id}/prices/{price_version}/end`.
    """

    price_version: int
    effective_from: str
    effective_until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceCorrectedV2:
    """The price of a period was wrong; this one replaces it.

    Emitted by `POST /api/llm-
    router/models/{model_id}/prices/{price_version}/corrections` and imports of
    price lists.
    """

    corrects: int
    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceAnnotatedV1:
    """The notes of a price have changed; the price has not.

    Emitted by imports of price lists.
    """

    price_version: int
    notes: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoutingCreatedV1:
    """An agent gets its first routes; the next event holds them.

    Emitted by `PUT /api/agents/{agent_id}/llm-routing`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoutingReplacedV1:
    """The agent has exactly these routes and tiers of its own from now on.

    Emitted by `PUT /api/agents/{agent_id}/llm-routing` and `POST
    /api/agents/{agent_id}/llm-routing/restore`.
    """

    agent_id: str
    terms: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTiersCreatedV1:
    """The registry of tiers was begun; the next event holds the first ones.

    Emitted by `PUT /api/llm-router/tiers`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTiersReplacedV1:
    """These tiers stand for these presets from now on.

    `tiers` holds only those that differ from before; null for one that is gone.
    Emitted by `PUT /api/llm-router/tiers` and `POST /api/llm-
    router/tiers/restore`.
    """

    tiers: Mapping[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAddedV1:
    """A provider of models was registered.

    Emitted by `POST /api/llm-router/providers` and imports of price lists.
    """

    key: str
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderContractSetV1:
    """Terms of a contract hold in a period, for a model or for all models.

    `closes` is the contract price whose open period ends where this one starts.
    Emitted by `POST /api/llm-router/contracts`.
    """

    model: str | None
    effective_from: str
    effective_until: str | None
    terms: Mapping[str, Any]
    closes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderContractEndedV1:
    """A contract price ends earlier; one that ends at its start is never valid.

    Emitted by `POST /api/llm-
    router/contracts/{provider_id}/prices/{price_version}/end`.
    """

    model: str | None
    price_version: int
    effective_from: str
    effective_until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderContractCorrectedV1:
    """The terms of a period were wrong; these replace them.

    Emitted by `POST /api/llm-
    router/contracts/{provider_id}/prices/{price_version}/corrections`.
    """

    model: str | None
    corrects: int
    effective_from: str
    effective_until: str | None
    terms: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRecordedV1:
    """A user was refused a change, because they may not make it.

    Of one user's refusals at one operation, the first is an event at once, and
    those of the following minute are one event together: `times` is their number,
    `path` that of the last. The event's author is the refused user. Emitted by
    every `POST`, `PUT` and `DELETE` that answers 403.
    """

    method: str
    path: str
    code: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCreatedV1:
    """A user's secret of this name has its first value, version 1.

    Emitted by `POST /api/secrets`.
    """

    owner_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCreatedAgainV1:
    """A deleted secret has a value again; version numbers continue.

    Emitted by `POST /api/secrets`.
    """

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretOverwrittenV1:
    """The secret has a new value. Emitted by `PUT /api/secrets/{name}`."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRestoredV1:
    """The value of an earlier version was restored, as a new version.

    Emitted by `POST /api/secrets/{name}/versions/{version}/restore`.
    """

    version: int
    restored_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRevealedV1:
    """A value of the secret is about to be sent to its owner.

    Emitted by `GET /api/secrets/{name}/value`.
    """

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretVersionsDestroyedV1:
    """Older values of the secret were destroyed.

    The follower `destruction` deletes what is sealed of them. Emitted by an
    overwrite or a restore, when more than ten values are kept.
    """

    versions: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretDeletedV1:
    """The secret and all of its values were deleted.

    Emitted by `DELETE /api/secrets/{name}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTextsReadV1:
    """A user reads texts of sessions of other users.

    `sessions` is the id of each session's aggregate to the id of its user.
    `operation` is `get_session` for all texts of a session, or `get_session_list`
    for the first input and the last output of each. Reading the same again with
    the same token within five minutes is no further event. Emitted by `GET
    /api/observability/session/{session_id}` and `GET
    /api/observability/session/list`, before they answer.
    """

    operation: str
    sessions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuedV2:
    """A token proves this user; the subject only stands for the token.

    The aggregate's id is a keyed hash of the token. A token without `expires_at`
    is valid until it is revoked. Emitted by `POST /api/users/{user_id}/tokens`,
    `agent-runtime token issue`, and the first start.
    """

    user_id: str
    label: str
    expires_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevokedV1:
    """The token was revoked.

    Emitted by `DELETE /api/users/{user_id}/tokens/{token_id}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallAdmittedV1:
    """A call was admitted, and is forwarded only after this event, at once.

    There is a connection to its upstream, and nothing but the message is left to
    send. `versions` are those of the aggregates that the decision read; had one
    moved, the log would have refused the event. `stance` and `rule` are what
    decided, `definition` is the digest of the tool's definition, `approval_id`
    the approval that was used up by it. `secret` is whose secret is sent along.
    Emitted by `tools/call` at `/mcp/agents/{agent_id}`.
    """

    agent_id: str
    user_id: str | None
    connector_id: str
    tool: str
    definition: str
    stance: str
    rule: str
    approval_id: str | None
    session_id: str | None
    trace_id: str | None
    versions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinishedV1:
    """An admitted call has ended.

    `outcome` is `ok`, `tool_error`, `upstream_error`, `timeout`, `cancelled`,
    `too_large` or `not_sent`. `upstream_ms` is the upstream's part of
    `duration_ms`. Emitted by `tools/call` at `/mcp/agents/{agent_id}`, shortly
    after.
    """

    outcome: str
    duration_ms: int
    upstream_ms: int | None
    request_bytes: int
    answer_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallContinuedV1:
    """Another call follows by the same approval.

    `next_call_id` brings the upstream input that it asked for, or repeats a call
    that it hasn't taken, and needs no approval of its own. Emitted by
    `tools/call` at `/mcp/agents/{agent_id}`.
    """

    next_call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallBatchedV1:
    """Calls of an agent were admitted, or have ended, in the mode `batched`.

    A call is in `admitted` of one event and in `finished` of the same or a later
    one. `token_ids` are those of the admitted calls. Emitted by `tools/call` at
    `/mcp/agents/{agent_id}`, within 100 ms.
    """

    agent_id: str
    admitted: Sequence[Mapping[str, Any]]
    finished: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRefusedV3:
    """Calls were refused: `times` since the last event about such calls.

    `tool` is null if the connector, or the agent's list, has no such tool, and
    where the agent doesn't hold the connector. `asked_for` is the name that the
    agent gave where `tool` is null: as it may be anything, it is null if it has
    other characters than names of tools have, and in a flood of other names.
    `reason` is `unknown_tool`, `connector_not_granted`, `denied`,
    `definition_changed`, `approval_refused`, `approval_expired`,
    `approval_withdrawn`, `too_many_approvals`, `credential_missing`,
    `too_many_calls`, `circuit_open`, `not_connected` (to its upstream, or no
    agreement with it on the protocol) or `cancelled` (by its client, before it
    could be sent). `session_id` and `trace_id` are null where the call names
    none, and in a flood of calls that name too many. Emitted by `tools/call` at
    `/mcp/agents/{agent_id}`, at most once a second for an agent, connector, tool,
    name asked for, reason and turn of a session.
    """

    agent_id: str
    user_id: str | None
    connector_id: str | None
    tool: str | None
    asked_for: str | None
    reason: str
    times: int
    session_id: str | None
    trace_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinitionsCreatedV1:
    """Tools of a connector were observed for the first time; the next says which.

    Emitted by the first observation of a connector.
    """

    connector_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinitionsObservedV1:
    """The upstream lists other definitions than before.

    `digests` has those that are new or differ, by tool, and `gone` those that it
    doesn't list any more. `unacceptable` says why a tool is never accepted.
    `accepted` are accepted with their first observation. `documents` are the
    definitions as JSON; another order of keys is no other definition. Emitted by
    observations of a connector, where the list differs.
    """

    connector_id: str
    digests: Mapping[str, str]
    gone: Sequence[str]
    accepted: Sequence[str]
    unacceptable: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinitionsAcceptedV1:
    """These definitions, tool to digest, may be called from now on.

    Emitted by `POST /api/mcp/connectors/{id}/definitions/accept`.
    """

    connector_id: str
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListingStartedV1:
    """A connector is asked for its tools with `secret`, opened after this event.

    Emitted by observations of a connector with a credential.
    """

    connector_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesCreatedV1:
    """An agent gets its first tool rules; the next event holds them.

    Emitted by `PUT /api/mcp/agents/{agent_id}/tools`.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesReplacedV1:
    """These connectors, by id, have exactly these rules from now on.

    `rules` is connector id to tool pattern to stance, and holds only connectors
    whose rules differ from before; one without stances has no rules any more.
    Emitted by `PUT /api/mcp/agents/{agent_id}/tools`, `POST
    /api/mcp/agents/{agent_id}/tools/restore` and `DELETE
    /api/mcp/agents/{agent_id}/tools/connectors/{connector_id}`.
    """

    agent_id: str
    rules: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesClearedV1:
    """All tool rules of the agent were removed.

    Emitted by `PUT /api/mcp/agents/{agent_id}/tools` with an empty batch.
    """

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamHandshakeStartedV1:
    """A connector's server is asked how it speaks with `secret`, opened after it.

    The call that needs it is decided once more, and admitted, when it has
    answered. Emitted by `tools/call` at `/mcp/agents/{agent_id}`, where a
    connector has a credential and there is no agreement with its server yet.
    """

    connector_id: str
    agent_id: str
    user_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCreatedV2:
    """A user was created.

    `sealed_name` is sealed (AEV1, purpose `text`), bound to the user, the event's
    version and the field `name`. `name` is that of `admin` and of users whom
    earlier versions of the service created; null otherwise. Emitted by `POST
    /api/users`; the first start for `admin`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRenamedV1:
    """The user has another name; nobody else gets the earlier one.

    `sealed_name` is sealed as in `user.created`. Emitted by `PUT
    /api/users/{user_id}/name`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserErasedV1:
    """The user was erased, with their name: none of their tokens is accepted.

    Their key is destroyed by the same command. Emitted by `DELETE
    /api/users/{user_id}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoleGrantedV1:
    """The user was given a role.

    Emitted by `POST /api/users` and `PUT /api/users/{user_id}/roles/{role}`; the
    first start for `admin`.
    """

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoleRevokedV1:
    """A role was taken from the user.

    Emitted by `DELETE /api/users/{user_id}/roles/{role}`.
    """

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserKeyDestroyedV1:
    """The user's key was destroyed, and all data sealed with it.

    That is the values of their secrets, the texts of their sessions, and their
    name. Emitted by `DELETE /api/users/{user_id}/key` and `DELETE
    /api/users/{user_id}`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDisabledV1:
    """The user was disabled: none of their tokens is accepted.

    Emitted by `PUT /api/users/{user_id}/disabled`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEnabledV1:
    """The disabled user was enabled: their valid tokens are accepted again.

    Emitted by `DELETE /api/users/{user_id}/disabled`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTokenAddedV1:
    """A token was added to the user's tokens, whose number is limited.

    `dropped` are tokens that no longer count, because they were revoked or have
    expired. Emitted with every `token.issued`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserNameClaimedV1:
    """A name belongs to this user permanently; the subject stands for the name.

    Emitted by `POST /api/users` and `PUT /api/users/{user_id}/name`.
    """

    user_id: str


EVENT_TYPES: Final[Mapping[str, type[Any]]] = {
    "model_connection.edited.v1": ModelConnectionEditedV1,
    "model_connection.registered.v1": ModelConnectionRegisteredV1,
    "model_pricing.price_corrected.v1": ModelPricingPriceCorrectedV1,
    "model_pricing.price_set.v1": ModelPricingPriceSetV1,
    "session.turn_amended.v1": SessionTurnAmendedV1,
    "session.turn_amended.v2": SessionTurnAmendedV2,
    "session.turn_amended.v3": SessionTurnAmendedV3,
    "session.turn_amended.v4": SessionTurnAmendedV4,
    "session.turn_recorded.v1": SessionTurnRecordedV1,
    "session.turn_recorded.v2": SessionTurnRecordedV2,
    "session.turn_recorded.v3": SessionTurnRecordedV3,
    "session.turn_recorded.v4": SessionTurnRecordedV4,
    "session.turn_repriced.v1": SessionTurnRepricedV1,
    "session.turn_repriced.v2": SessionTurnRepricedV2,
    "token.issued.v1": TokenIssuedV1,
    "tool_call.refused.v1": ToolCallRefusedV1,
    "tool_call.refused.v2": ToolCallRefusedV2,
    "user.created.v1": UserCreatedV1,
    "agent.registered.v1": AgentRegisteredV1,
    "agent.edited.v1": AgentEditedV1,
    "agent.retired.v1": AgentRetiredV1,
    "agent.manager_appointed.v1": AgentManagerAppointedV1,
    "agent.manager_dismissed.v1": AgentManagerDismissedV1,
    "agent.reader_appointed.v1": AgentReaderAppointedV1,
    "agent.reader_dismissed.v1": AgentReaderDismissedV1,
    "agent.tool_search_changed.v1": AgentToolSearchChangedV1,
    "agent_tokens.created.v1": AgentTokensCreatedV1,
    "agent_tokens.issued.v1": AgentTokensIssuedV1,
    "agent_tokens.revoked.v1": AgentTokensRevokedV1,
    "approvals.created.v1": ApprovalsCreatedV1,
    "approvals.requested.v1": ApprovalsRequestedV1,
    "approvals.approved.v1": ApprovalsApprovedV1,
    "approvals.refused.v1": ApprovalsRefusedV1,
    "approvals.withdrawn.v1": ApprovalsWithdrawnV1,
    "approvals.expired.v1": ApprovalsExpiredV1,
    "approvals.expiry_told.v1": ApprovalsExpiryToldV1,
    "approvals.used.v1": ApprovalsUsedV1,
    "approvals.arguments_read.v1": ApprovalsArgumentsReadV1,
    "audit.read.v1": AuditReadV1,
    "session.started.v1": SessionStartedV1,
    "session.turn_recorded.v5": SessionTurnRecordedV5,
    "session.turn_amended.v5": SessionTurnAmendedV5,
    "session.turn_repriced.v3": SessionTurnRepricedV3,
    "session.ended.v1": SessionEndedV1,
    "connector.registered.v1": ConnectorRegisteredV1,
    "connector.edited.v1": ConnectorEditedV1,
    "connector.ownership_offered.v1": ConnectorOwnershipOfferedV1,
    "connector.ownership_offer_withdrawn.v1": ConnectorOwnershipOfferWithdrawnV1,
    "connector.handed_over.v1": ConnectorHandedOverV1,
    "connector.made_public.v1": ConnectorMadePublicV1,
    "connector.made_private.v1": ConnectorMadePrivateV1,
    "connector.grant_offered.v1": ConnectorGrantOfferedV1,
    "connector.granted_to_agent.v1": ConnectorGrantedToAgentV1,
    "connector.grant_revoked.v1": ConnectorGrantRevokedV1,
    "connector.retired.v1": ConnectorRetiredV1,
    "connector.slug_changed.v1": ConnectorSlugChangedV1,
    "connector.record_mode_changed.v1": ConnectorRecordModeChangedV1,
    "connector.protocol_revision_set.v1": ConnectorProtocolRevisionSetV1,
    "connector.credential_attached.v1": ConnectorCredentialAttachedV1,
    "connector.credential_detached.v1": ConnectorCredentialDetachedV1,
    "log.epoch_changed.v1": LogEpochChangedV1,
    "match_rules.listed.v1": MatchRulesListedV1,
    "match_rules.provider_changed.v1": MatchRulesProviderChangedV1,
    "model_call.admitted.v1": ModelCallAdmittedV1,
    "model_call.repeated.v1": ModelCallRepeatedV1,
    "model_call.finished.v1": ModelCallFinishedV1,
    "model_call.batched.v1": ModelCallBatchedV1,
    "model_call.refused.v1": ModelCallRefusedV1,
    "model_connection.registered.v2": ModelConnectionRegisteredV2,
    "model_connection.edited.v2": ModelConnectionEditedV2,
    "model_connection.retired.v1": ModelConnectionRetiredV1,
    "model_preset.made.v1": ModelPresetMadeV1,
    "model_preset.edited.v1": ModelPresetEditedV1,
    "model_preset.granted_to_agent.v1": ModelPresetGrantedToAgentV1,
    "model_preset.grant_revoked.v1": ModelPresetGrantRevokedV1,
    "model_preset.retired.v1": ModelPresetRetiredV1,
    "model_pricing.listed.v1": ModelPricingListedV1,
    "model_pricing.price_set.v2": ModelPricingPriceSetV2,
    "model_pricing.price_ended.v1": ModelPricingPriceEndedV1,
    "model_pricing.price_corrected.v2": ModelPricingPriceCorrectedV2,
    "model_pricing.price_annotated.v1": ModelPricingPriceAnnotatedV1,
    "model_routing.created.v1": ModelRoutingCreatedV1,
    "model_routing.replaced.v1": ModelRoutingReplacedV1,
    "model_tiers.created.v1": ModelTiersCreatedV1,
    "model_tiers.replaced.v1": ModelTiersReplacedV1,
    "provider.added.v1": ProviderAddedV1,
    "provider.contract_set.v1": ProviderContractSetV1,
    "provider.contract_ended.v1": ProviderContractEndedV1,
    "provider.contract_corrected.v1": ProviderContractCorrectedV1,
    "refusal.recorded.v1": RefusalRecordedV1,
    "secret.created.v1": SecretCreatedV1,
    "secret.created_again.v1": SecretCreatedAgainV1,
    "secret.overwritten.v1": SecretOverwrittenV1,
    "secret.restored.v1": SecretRestoredV1,
    "secret.revealed.v1": SecretRevealedV1,
    "secret.versions_destroyed.v1": SecretVersionsDestroyedV1,
    "secret.deleted.v1": SecretDeletedV1,
    "session_texts.read.v1": SessionTextsReadV1,
    "token.issued.v2": TokenIssuedV2,
    "token.revoked.v1": TokenRevokedV1,
    "tool_call.admitted.v1": ToolCallAdmittedV1,
    "tool_call.finished.v1": ToolCallFinishedV1,
    "tool_call.continued.v1": ToolCallContinuedV1,
    "tool_call.batched.v1": ToolCallBatchedV1,
    "tool_call.refused.v3": ToolCallRefusedV3,
    "tool_definitions.created.v1": ToolDefinitionsCreatedV1,
    "tool_definitions.observed.v1": ToolDefinitionsObservedV1,
    "tool_definitions.accepted.v1": ToolDefinitionsAcceptedV1,
    "tool_listing.started.v1": ToolListingStartedV1,
    "tool_rules.created.v1": ToolRulesCreatedV1,
    "tool_rules.replaced.v1": ToolRulesReplacedV1,
    "tool_rules.cleared.v1": ToolRulesClearedV1,
    "upstream_handshake.started.v1": UpstreamHandshakeStartedV1,
    "user.created.v2": UserCreatedV2,
    "user.renamed.v1": UserRenamedV1,
    "user.erased.v1": UserErasedV1,
    "user.role_granted.v1": UserRoleGrantedV1,
    "user.role_revoked.v1": UserRoleRevokedV1,
    "user.key_destroyed.v1": UserKeyDestroyedV1,
    "user.disabled.v1": UserDisabledV1,
    "user.enabled.v1": UserEnabledV1,
    "user.token_added.v1": UserTokenAddedV1,
    "user_name.claimed.v1": UserNameClaimedV1,
}
