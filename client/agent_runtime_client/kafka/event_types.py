"""What each published event carries. Made by ``make contract``; do not edit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final


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
class UserCreatedV1:
    """A user was created; the name is theirs permanently."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegisteredV1:
    """An agent was registered; its creator is its first manager."""

    name: str
    description: str
    manager_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEditedV1:
    """The agent has this name and description from now on."""

    name: str
    description: str
    previous_name: str
    previous_description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRetiredV1:
    """The agent was retired permanently; all of its tools are denied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentManagerAppointedV1:
    """The user now manages the agent."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentManagerDismissedV1:
    """The user no longer manages the agent."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReaderAppointedV1:
    """The user may now read the agent's rules and explain its decisions."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReaderDismissedV1:
    """The user may no longer read the agent's rules as its reader."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTokensCreatedV1:
    """An agent gets its first token; the next event says which."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTokensIssuedV1:
    """A token lets this agent call its tools, for this user where it names one."""

    agent_id: str
    user_id: str | None
    issued_by: str
    label: str
    issued_at: str
    expires_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTokensRevokedV1:
    """A token of the agent was revoked: no call is admitted with it any more."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsCreatedV1:
    """An agent needs its first approval; the next event says for what."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsRequestedV1:
    """A person is asked whether an agent may call a tool once, until ``expires_at``."""

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
    """A person lets the agent make the call once, until ``expires_at``."""

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    by: str
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsRefusedV1:
    """A person refused the call."""

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsWithdrawnV1:
    """A person took an approval, or the question, back."""

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsExpiredV1:
    """An approval was neither decided on nor used in time."""

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsExpiryToldV1:
    """The agent called again and was told of the expiry; its next call asks anew."""

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsUsedV1:
    """An approval was used up by a call, which the same command has admitted."""

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalsArgumentsReadV1:
    """The arguments of a call are about to be shown to an approver."""

    agent_id: str
    approval_id: str
    connector_id: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReadV1:
    """A user reads history, by one request, export or stream."""

    operation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedV1:
    """A session of a user with an agent has started."""

    session_id: str
    agent_id: str
    user_id: str
    started_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRecordedV5:
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
    """The session has ended; late turns may still arrive."""

    ended_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRegisteredV1:
    """A connector was registered, private to its owner."""

    owner_id: str
    name: str
    url: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorEditedV1:
    """The connector has this name, URL and description from now on."""

    name: str
    url: str
    description: str
    previous_name: str
    previous_url: str
    previous_description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorOwnershipOfferedV1:
    """The connector was offered to a new owner, who has not accepted yet."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorOwnershipOfferWithdrawnV1:
    """The offer to a new owner was withdrawn or declined."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorHandedOverV1:
    """The connector has another owner; grants and publication remain."""

    owner_id: str
    previous_owner_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorMadePublicV1:
    """The connector's definition is shared with everyone."""

    by: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorMadePrivateV1:
    """The connector is private again; existing grants remain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantOfferedV1:
    """One side has consented to a grant; the other has not yet."""

    agent_id: str
    side: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantedToAgentV1:
    """Both sides have consented; the agent holds the connector."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantRevokedV1:
    """A grant, or an offer of one, was revoked."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRetiredV1:
    """The connector was retired permanently; no agent holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorSlugChangedV1:
    """The connector's tools have this prefix in an agent's list from now on."""

    slug: str
    previous_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRecordModeChangedV1:
    """The connector's calls are recorded in this mode from now on."""

    record_mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorCredentialAttachedV1:
    """The gateway sends a secret's value to the connector from now on."""

    whose: str
    secret_name: str | None
    header: str
    scheme: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorCredentialDetachedV1:
    """The gateway sends the connector no secret any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEpochChangedV1:
    """The log has a new epoch, because its end may have been lost."""

    old_epoch: str
    new_epoch: str
    position: int
    reason: str
    signed_size: int | None
    signed_root: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRulesListedV1:
    """The rules of a price list are imported for the first time."""

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRulesProviderChangedV1:
    """The rules for a provider's names have changed."""

    provider: str
    effective_from: str
    rules: Mapping[str, Any] | None
    models: Mapping[str, Sequence[Sequence[Mapping[str, Any]]] | None]
    order: Sequence[str] | None
    providers: Sequence[str] | None
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingListedV1:
    """A model gets its first price; the next event holds it."""

    provider_id: str
    provider_key: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceSetV2:
    """A price is valid in a period; it ends the open price `closes`."""

    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]
    closes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceEndedV1:
    """A price ends earlier; one that ends at its start is never valid."""

    price_version: int
    effective_from: str
    effective_until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceCorrectedV2:
    """The price of a period was wrong; this one replaces it."""

    corrects: int
    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceAnnotatedV1:
    """The notes of a price have changed; the price has not."""

    price_version: int
    notes: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAddedV1:
    """A provider of models was registered."""

    key: str
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderContractSetV1:
    """Terms of a contract hold in a period, for a model or for all models."""

    model: str | None
    effective_from: str
    effective_until: str | None
    terms: Mapping[str, Any]
    closes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderContractEndedV1:
    """A contract price ends earlier; one that ends at its start is never valid."""

    model: str | None
    price_version: int
    effective_from: str
    effective_until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderContractCorrectedV1:
    """The terms of a period were wrong; these replace them."""

    model: str | None
    corrects: int
    effective_from: str
    effective_until: str | None
    terms: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRecordedV1:
    """A user was refused a change, because they may not make it."""

    method: str
    path: str
    code: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCreatedV1:
    """A user's secret of this name has its first value, version 1."""

    owner_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCreatedAgainV1:
    """A deleted secret has a value again; version numbers continue."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretOverwrittenV1:
    """The secret has a new value."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRestoredV1:
    """The value of an earlier version was restored, as a new version."""

    version: int
    restored_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRevealedV1:
    """A value of the secret is about to be sent to its owner."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretVersionsDestroyedV1:
    """Older values of the secret were destroyed."""

    versions: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretDeletedV1:
    """The secret and all of its values were deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTextsReadV1:
    """A user reads texts of sessions of other users."""

    operation: str
    sessions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuedV2:
    """A token proves this user; the subject only stands for the token."""

    user_id: str
    label: str
    expires_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevokedV1:
    """The token was revoked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallAdmittedV1:
    """A call was admitted, and is forwarded only after this event, at once."""

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
    """An admitted call has ended."""

    outcome: str
    duration_ms: int
    upstream_ms: int | None
    request_bytes: int
    answer_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallContinuedV1:
    """Another call follows by the same approval."""

    next_call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallBatchedV1:
    """Calls of an agent were admitted, or have ended, in the mode ``batched``."""

    agent_id: str
    admitted: Sequence[Mapping[str, Any]]
    finished: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRefusedV2:
    """Calls were refused: ``times`` since the last event about such calls."""

    agent_id: str
    user_id: str | None
    connector_id: str | None
    tool: str | None
    reason: str
    times: int
    session_id: str | None
    trace_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinitionsCreatedV1:
    """Tools of a connector were observed for the first time; the next says which."""

    connector_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinitionsObservedV1:
    """The upstream lists other definitions than before."""

    connector_id: str
    digests: Mapping[str, str]
    gone: Sequence[str]
    accepted: Sequence[str]
    unacceptable: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinitionsAcceptedV1:
    """These definitions, tool to digest, may be called from now on."""

    connector_id: str
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListingStartedV1:
    """A connector is asked for its tools with ``secret``, opened after this event."""

    connector_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesCreatedV1:
    """An agent gets its first tool rules; the next event holds them."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesReplacedV1:
    """These connectors, by id, have exactly these rules from now on."""

    agent_id: str
    rules: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesClearedV1:
    """All tool rules of the agent were removed."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamHandshakeStartedV1:
    """A connector's server is asked how it speaks with ``secret``, opened after it."""

    connector_id: str
    agent_id: str
    user_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCreatedV2:
    """A user was created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRenamedV1:
    """The user has another name; nobody else gets the earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserErasedV1:
    """The user was erased, with their name: none of their tokens is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoleGrantedV1:
    """The user was given a role."""

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoleRevokedV1:
    """A role was taken from the user."""

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserKeyDestroyedV1:
    """The user's key was destroyed, and all data sealed with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDisabledV1:
    """The user was disabled: none of their tokens is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEnabledV1:
    """The disabled user was enabled: their valid tokens are accepted again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTokenAddedV1:
    """A token was added to the user's tokens, whose number is limited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserNameClaimedV1:
    """A name belongs to this user permanently; the subject stands for the name."""

    user_id: str


EVENT_TYPES: Final[Mapping[str, type[Any]]] = {
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
    "user.created.v1": UserCreatedV1,
    "agent.registered.v1": AgentRegisteredV1,
    "agent.edited.v1": AgentEditedV1,
    "agent.retired.v1": AgentRetiredV1,
    "agent.manager_appointed.v1": AgentManagerAppointedV1,
    "agent.manager_dismissed.v1": AgentManagerDismissedV1,
    "agent.reader_appointed.v1": AgentReaderAppointedV1,
    "agent.reader_dismissed.v1": AgentReaderDismissedV1,
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
    "connector.credential_attached.v1": ConnectorCredentialAttachedV1,
    "connector.credential_detached.v1": ConnectorCredentialDetachedV1,
    "log.epoch_changed.v1": LogEpochChangedV1,
    "match_rules.listed.v1": MatchRulesListedV1,
    "match_rules.provider_changed.v1": MatchRulesProviderChangedV1,
    "model_pricing.listed.v1": ModelPricingListedV1,
    "model_pricing.price_set.v2": ModelPricingPriceSetV2,
    "model_pricing.price_ended.v1": ModelPricingPriceEndedV1,
    "model_pricing.price_corrected.v2": ModelPricingPriceCorrectedV2,
    "model_pricing.price_annotated.v1": ModelPricingPriceAnnotatedV1,
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
    "tool_call.refused.v2": ToolCallRefusedV2,
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
