"""What each published event carries. Made by ``make contract``: not for editing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRegisteredV1:
    """An agent exists; who registered it is its first manager."""

    name: str
    description: str
    manager_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentManagerAppointedV1:
    """A user has full management of the agent from now on."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentManagerDismissedV1:
    """A user has full management of the agent no more."""

    user_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReadV1:
    """Somebody reads history, by one request, export or stream."""

    operation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRegisteredV1:
    """A connector exists, private to its owner."""

    owner_id: str
    name: str
    url: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorMadePublicV1:
    """The connector's definition is shared with everyone."""

    by: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorMadePrivateV1:
    """The connector is shared no more; grants that were made stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantOfferedV1:
    """One side has consented to a grant; the other one has not yet."""

    agent_id: str
    side: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantedToAgentV1:
    """Both sides have consented; the agent holds the connector."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorGrantRevokedV1:
    """A grant, or an offer of one, was taken back."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRetiredV1:
    """The connector has ended for good; no agent holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesCreatedV1:
    """An agent gets its first tool rules; the next event has them."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesReplacedV1:
    """Some connectors, by id, have these rules and no others from now on."""

    agent_id: str
    rules: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRulesClearedV1:
    """The agent has no tool rules any more."""

    agent_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCreatedV1:
    """A user's secret of this name has its first value, version 1."""

    owner_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCreatedAgainV1:
    """A deleted secret has a value again; versions are numbered on."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretOverwrittenV1:
    """The secret has another value."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRestoredV1:
    """The secret has the value of an earlier version, as a new one."""

    version: int
    restored_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRevealedV1:
    """A value of the secret was read by its owner."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretVersionsDestroyedV1:
    """Older values of the secret were given up."""

    versions: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretDeletedV1:
    """The secret and all of its values were given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStartedV1:
    """A session of a user with an agent exists."""

    session_id: str
    agent_id: str
    user_id: str
    started_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTurnRecordedV1:
    """A turn took place; a cost of null is an unknown one."""

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
class SessionTurnAmendedV1:
    """A turn as it is with spans that came later: it replaces the turn."""

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
class SessionEndedV1:
    """The session is over; late turns may still come."""

    ended_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAddedV1:
    """A provider of models is known."""

    key: str
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingListedV1:
    """A model gets its first price; the next event has it."""

    provider_id: str
    provider_key: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceSetV1:
    """A price holds in a period; the open price that `closes` names ends."""

    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]
    closes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceEndedV1:
    """A price ends earlier than was said; at its start, it never holds."""

    price_version: int
    effective_from: str
    effective_until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceCorrectedV1:
    """What was said of a period was wrong; this holds for it instead."""

    corrects: int
    effective_from: str
    effective_until: str | None
    price: Mapping[str, Any]
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricingPriceAnnotatedV1:
    """Other words stand beside the same price."""

    price_version: int
    notes: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCreatedV1:
    """A user exists; the name is theirs for good."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoleGrantedV1:
    """The user has a role from now on."""

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoleRevokedV1:
    """The user has a role no more."""

    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserKeyDestroyedV1:
    """Everything sealed for the user was given up for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuedV1:
    """A token proves this user; the subject only stands for the token."""

    user_id: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRevokedV1:
    """A token proves nobody any more."""


EVENT_TYPES: Final[Mapping[str, type[Any]]] = {
    "agent.registered.v1": AgentRegisteredV1,
    "agent.manager_appointed.v1": AgentManagerAppointedV1,
    "agent.manager_dismissed.v1": AgentManagerDismissedV1,
    "audit.read.v1": AuditReadV1,
    "connector.registered.v1": ConnectorRegisteredV1,
    "connector.made_public.v1": ConnectorMadePublicV1,
    "connector.made_private.v1": ConnectorMadePrivateV1,
    "connector.grant_offered.v1": ConnectorGrantOfferedV1,
    "connector.granted_to_agent.v1": ConnectorGrantedToAgentV1,
    "connector.grant_revoked.v1": ConnectorGrantRevokedV1,
    "connector.retired.v1": ConnectorRetiredV1,
    "tool_rules.created.v1": ToolRulesCreatedV1,
    "tool_rules.replaced.v1": ToolRulesReplacedV1,
    "tool_rules.cleared.v1": ToolRulesClearedV1,
    "secret.created.v1": SecretCreatedV1,
    "secret.created_again.v1": SecretCreatedAgainV1,
    "secret.overwritten.v1": SecretOverwrittenV1,
    "secret.restored.v1": SecretRestoredV1,
    "secret.revealed.v1": SecretRevealedV1,
    "secret.versions_destroyed.v1": SecretVersionsDestroyedV1,
    "secret.deleted.v1": SecretDeletedV1,
    "session.started.v1": SessionStartedV1,
    "session.turn_recorded.v1": SessionTurnRecordedV1,
    "session.turn_amended.v1": SessionTurnAmendedV1,
    "session.ended.v1": SessionEndedV1,
    "provider.added.v1": ProviderAddedV1,
    "model_pricing.listed.v1": ModelPricingListedV1,
    "model_pricing.price_set.v1": ModelPricingPriceSetV1,
    "model_pricing.price_ended.v1": ModelPricingPriceEndedV1,
    "model_pricing.price_corrected.v1": ModelPricingPriceCorrectedV1,
    "model_pricing.price_annotated.v1": ModelPricingPriceAnnotatedV1,
    "user.created.v1": UserCreatedV1,
    "user.role_granted.v1": UserRoleGrantedV1,
    "user.role_revoked.v1": UserRoleRevokedV1,
    "user.key_destroyed.v1": UserKeyDestroyedV1,
    "token.issued.v1": TokenIssuedV1,
    "token.revoked.v1": TokenRevokedV1,
}
