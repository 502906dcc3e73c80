"""The objects of the API. Made by ``make generated``; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from agent_runtime_client.encoding import decimal, dict_of, list_of
from agent_runtime_client.model import Model
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven
from agent_runtime_client.secret import Secret

ApprovalState = Literal[
    "pending", "approved", "refused", "withdrawn", "expired", "used"
]


AttemptOutcome = Literal[
    "answered",
    "status",
    "out_of_credit",
    "stream_error",
    "unreachable",
    "late",
    "silent",
    "cut",
    "not_http",
    "redirected",
    "credential_repeated",
    "credential_unusable",
    "changed",
    "suspended",
    "given_up",
]


Cause = Literal[
    "invalid_url",
    "name_not_found",
    "connection_refused",
    "connect_timeout",
    "unreachable",
    "tls_required",
    "tls_certificate",
    "tls_failed",
    "private_address",
    "metadata_address",
    "timeout",
    "connection_closed",
    "too_large",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "http_status",
    "redirect",
    "legacy_sse",
    "web_page",
    "not_mcp",
    "no_revision",
    "protocol_error",
    "credential",
    "internal",
]


ChosenBy = Literal["response", "session", "weight", "window"]


Dialect = Literal[
    "openai_chat", "openai_responses", "openai_embeddings", "anthropic_messages"
]


HealthState = Literal["ok", "failing", "unobserved"]


ImportOutcome = Literal["added", "changed", "unchanged", "held"]


RecordMode = Literal["strict", "batched"]


Role = Literal["superuser", "auditor", "runtime"]


RoutingProblem = Literal[
    "agent_retired",
    "no_route",
    "unknown_tier",
    "preset_unavailable",
    "no_target",
    "no_common_dialect",
]


Stance = Literal["allow", "ask", "deny"]


Standing = Literal["accepted", "new", "changed", "gone", "unacceptable"]


TargetProblem = Literal["connection_retired", "no_credential"]


class AcceptedDefinitions(Model):
    """The tools named, with the digests that are accepted."""

    connector_id: UUID
    version: int
    accepted: Mapping[str, str]

    CONVERTERS = {
        "connector_id": UUID,
    }


class After(Model):
    """`next` of the page before."""

    started_at: datetime
    session: UUID
    version: int

    CONVERTERS = {
        "started_at": datetime.fromisoformat,
        "session": UUID,
    }


class AgentGateway(Model):
    """How the gateway lists the tools of an agent; ``version`` is the agent's."""

    agent_id: UUID
    tools_listed_max: int | None
    version: int

    CONVERTERS = {
        "agent_id": UUID,
    }


class AgentList(Model):
    agents: Sequence[Agent]
    end_cursor: UUID | None

    CONVERTERS = {
        "agents": lambda value: list_of(Agent.decode)(value),
        "end_cursor": UUID,
    }


class Agent(Model):
    id: UUID
    name: str
    description: str
    state: Literal["active", "retired"]
    manager_ids: Sequence[UUID]
    reader_ids: Sequence[UUID]
    version: int
    created_at: datetime
    updated_at: datetime

    CONVERTERS = {
        "id": UUID,
        "manager_ids": list_of(UUID),
        "reader_ids": list_of(UUID),
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
    }


class AgentRules(Model):
    """Rules as of a position; warnings are null unless it is the latest."""

    agent_id: UUID
    version: int
    position: int
    rules: Sequence[ToolRule]
    warnings: Sequence[ToolRuleWarning] | None

    CONVERTERS = {
        "agent_id": UUID,
        "rules": lambda value: list_of(ToolRule.decode)(value),
        "warnings": lambda value: list_of(ToolRuleWarning.decode)(value),
    }


class AgentTokenList(Model):
    tokens: Sequence[AgentToken]

    CONVERTERS = {
        "tokens": lambda value: list_of(AgentToken.decode)(value),
    }


class AgentToken(Model):
    """A token that was not revoked; ``user_id`` is for whom the agent calls with it."""

    id: UUID
    agent_id: UUID
    user_id: UUID | None
    issued_by: UUID
    label: str
    created_at: datetime
    expires_at: datetime | None

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "user_id": UUID,
        "issued_by": UUID,
        "created_at": datetime.fromisoformat,
        "expires_at": datetime.fromisoformat,
    }


class AggregateDifference(Model):
    """Changes between two versions; ``version_before`` is 0 if it didn't exist yet."""

    id: UUID
    kind: str
    since_position: int
    until_position: int
    version_before: int
    version_after: int
    changes: Sequence[Change]

    CONVERTERS = {
        "id": UUID,
        "changes": lambda value: list_of(Change.decode)(value),
    }


class AnnotationSummary(Model):
    """The annotations of one name, summed up."""

    name: str
    count: int
    labels: Sequence[str]
    mean_score: float | None
    score_count: int
    label_count: int
    label_fractions: Sequence[LabelFraction]

    CONVERTERS = {
        "mean_score": float,
        "label_fractions": lambda value: list_of(LabelFraction.decode)(value),
    }


class ApprovalList(Model):
    approvals: Sequence[ListedApproval]
    end_cursor: int | None

    CONVERTERS = {
        "approvals": lambda value: list_of(ListedApproval.decode)(value),
    }


class ApprovalResource(Model):
    """What a person is asked: one call, bound to its arguments and definition.

    ``version`` is what If-Match names. ``definition`` is the digest of the tool's
    definition.
    """

    id: UUID
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID
    tool: str
    definition: str
    state: ApprovalState
    requested_at: datetime
    expires_at: datetime
    decided_by: UUID | None
    reason: str | None
    version: int

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "token_id": UUID,
        "user_id": UUID,
        "connector_id": UUID,
        "requested_at": datetime.fromisoformat,
        "expires_at": datetime.fromisoformat,
        "decided_by": UUID,
    }


class ApprovalWithArguments(Model):
    """With the call's arguments; null if they were destroyed, or their user's key."""

    id: UUID
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID
    tool: str
    definition: str
    state: ApprovalState
    requested_at: datetime
    expires_at: datetime
    decided_by: UUID | None
    reason: str | None
    version: int
    arguments: Mapping[str, Any] | None

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "token_id": UUID,
        "user_id": UUID,
        "connector_id": UUID,
        "requested_at": datetime.fromisoformat,
        "expires_at": datetime.fromisoformat,
        "decided_by": UUID,
    }


class AuditEntry(Model):
    """Who did what, when, in which request, and what it changed.

    ``actor_id`` is null for actions of the service or its operator; see ``actor``.
    ``what`` is a sentence for people whose wording may change between versions of the
    service; programs use ``kind`` and the event's own fields.
    """

    position: int
    recorded_at: datetime
    actor_id: UUID | None
    actor: str | None
    token_id: UUID | None
    request_id: str | None
    trace_id: str | None
    address: str | None
    kind: str
    resource: AuditedResource
    version: int
    what: str

    CONVERTERS = {
        "recorded_at": datetime.fromisoformat,
        "actor_id": UUID,
        "token_id": UUID,
        "resource": lambda value: AuditedResource.decode(value),
    }


class AuditPage(Model):
    """One page of entries; ``end_cursor`` is null on the last one."""

    entries: Sequence[AuditEntry]
    end_cursor: int | None

    CONVERTERS = {
        "entries": lambda value: list_of(AuditEntry.decode)(value),
    }


class AuditedResource(Model):
    """The resource that an entry changed.

    ``name`` is null for what has no name of its own: tool rules, and records of reads
    and refusals.
    """

    kind: str
    id: UUID
    name: str | None

    CONVERTERS = {
        "id": UUID,
    }


class CallAttempt(Model):
    """A target that was asked, or `suspended`: left alone.

    `status` is that of its answer, null without one.
    """

    connection_id: UUID
    model: str
    outcome: AttemptOutcome
    status: int | None
    duration_ms: int

    CONVERTERS = {
        "connection_id": UUID,
    }


class CallUsage(Model):
    """What a call used, and its cost by the prices of its start; null is unknown.

    `model` is the one that the provider names, otherwise what it was asked for.
    `unpriced` says why there is no cost. `counts` are the provider's by unit, and
    `conditions` what else the price depends on. `estimated` names what the cost lacks,
    or what isn't told for certain: `attempts`, where an earlier target may have charged
    something, too.
    """

    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: Decimal | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: (
        Literal[
            "no_such_model",
            "no_price_then",
            "count_missing",
            "counts_contradict",
            "contract_lacks_rate",
            "several_currencies",
        ]
        | None
    )
    contract_id: str | None
    list_cost: Decimal | None
    list_currency: str | None
    reported_cost: Decimal | None
    estimated: Sequence[str]
    counts: Mapping[str, int]
    conditions: Mapping[str, str]

    CONVERTERS = {
        "cost": decimal,
        "list_cost": decimal,
        "reported_cost": decimal,
    }


class CallableModels(Model):
    """Every route of an agent, and what it leads to now.

    ``version`` is that of its routing. A route with a ``problem`` can't be called.
    """

    agent_id: UUID
    version: int
    models: Sequence[Route]

    CONVERTERS = {
        "agent_id": UUID,
        "models": lambda value: list_of(Route.decode)(value),
    }


class Change(Model):
    """A changed place of the state, as a JSON pointer (RFC 6901), with both values."""

    path: str
    what: Literal["added", "removed", "replaced"]
    before: Any
    after: Any


class ChangedCalls(Model):
    """Recorded calls of one tool that would be decided otherwise."""

    connector_id: UUID
    tool: str
    decided: Stance
    would_be: Stance
    calls: int
    last_at: datetime

    CONVERTERS = {
        "connector_id": UUID,
        "last_at": datetime.fromisoformat,
    }


class ChangedConnector(Model):
    """A connector, with warnings of what its change means for agents."""

    id: UUID
    name: str
    url: str
    description: str
    owner_id: UUID
    offered_owner_id: UUID | None
    visibility: Literal["private", "public"]
    public_since: datetime | None
    made_public_by: UUID | None
    slug: str
    record_mode: Literal["strict", "batched"]
    protocol_revision: (
        Literal["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        | None
    )
    credential: CredentialResource | None
    version: int
    created_at: datetime
    updated_at: datetime
    warnings: Sequence[NamesChange]

    CONVERTERS = {
        "id": UUID,
        "owner_id": UUID,
        "offered_owner_id": UUID,
        "public_since": datetime.fromisoformat,
        "made_public_by": UUID,
        "credential": lambda value: CredentialResource.decode(value),
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
        "warnings": lambda value: list_of(NamesChange.decode)(value),
    }


class ChangedName(Model):
    """A name of a model that would lead elsewhere."""

    model: str
    before: RoutedName
    after: RoutedName

    CONVERTERS = {
        "before": lambda value: RoutedName.decode(value),
        "after": lambda value: RoutedName.decode(value),
    }


class CheckpointKey(Model):
    """The key as ``name+id+key``, the format of C2SP signed-note tools."""

    public_key: str


class Completeness(Model):
    """What of a cost is exact, what an estimate, and what is unknown.

    An estimate depends on something that the telemetry doesn't tell for certain:
    `estimated` of the turn names it.
    """

    exact: KnownPart
    estimated: KnownPart
    unknown: UnknownPart

    CONVERTERS = {
        "exact": lambda value: KnownPart.decode(value),
        "estimated": lambda value: KnownPart.decode(value),
        "unknown": lambda value: UnknownPart.decode(value),
    }


class ConnectionCredential(Model):
    """A secret of the connection's owner, and the header that it is sent in.

    ``scheme`` stands before the value, with a space; null for none.
    """

    secret_name: str
    header: str
    scheme: str | None


class ConnectionCredentialBody(Model):
    """A secret of the caller, and how it is sent.

    Anthropic takes its key in the header `x-api-key`, and Azure in `api-key`; most
    others in `Authorization`.
    """

    secret_name: str
    header: str | NotGiven = NOT_GIVEN
    scheme: str | None | NotGiven = NOT_GIVEN


class ConnectionList(Model):
    connections: Sequence[ConnectionResource]
    end_cursor: UUID | None

    CONVERTERS = {
        "connections": lambda value: list_of(ConnectionResource.decode)(value),
        "end_cursor": UUID,
    }


class ConnectionResource(Model):
    """A connection to a server of models; ``credential`` never has a value."""

    id: UUID
    owner_id: UUID
    name: str
    base_url: str
    dialects: Sequence[Dialect]
    provider: str
    credential: ConnectionCredential | None
    record_mode: RecordMode
    version: int
    created_at: datetime
    updated_at: datetime

    CONVERTERS = {
        "id": UUID,
        "owner_id": UUID,
        "credential": lambda value: ConnectionCredential.decode(value),
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
    }


class ConnectionWithPresets(Model):
    """A connection, and the presets that name it now, at most 1,000."""

    id: UUID
    owner_id: UUID
    name: str
    base_url: str
    dialects: Sequence[Dialect]
    provider: str
    credential: ConnectionCredential | None
    record_mode: RecordMode
    version: int
    created_at: datetime
    updated_at: datetime
    preset_ids: Sequence[UUID]

    CONVERTERS = {
        "id": UUID,
        "owner_id": UUID,
        "credential": lambda value: ConnectionCredential.decode(value),
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
        "preset_ids": list_of(UUID),
    }


class ConnectorDecisions(Model):
    connector_id: UUID
    tools: Sequence[ToolDecision]

    CONVERTERS = {
        "connector_id": UUID,
        "tools": lambda value: list_of(ToolDecision.decode)(value),
    }


class ConnectorDifference(Model):
    connector_id: UUID
    granted_before: bool
    granted_after: bool
    tools: Sequence[ToolDifference]

    CONVERTERS = {
        "connector_id": UUID,
        "tools": lambda value: list_of(ToolDifference.decode)(value),
    }


class ConnectorList(Model):
    connectors: Sequence[ListedConnector]
    end_cursor: UUID | None

    CONVERTERS = {
        "connectors": lambda value: list_of(ListedConnector.decode)(value),
        "end_cursor": UUID,
    }


class Connector(Model):
    """A connector; from ``slug`` to ``credential`` it is for the gateway."""

    id: UUID
    name: str
    url: str
    description: str
    owner_id: UUID
    offered_owner_id: UUID | None
    visibility: Literal["private", "public"]
    public_since: datetime | None
    made_public_by: UUID | None
    slug: str
    record_mode: Literal["strict", "batched"]
    protocol_revision: (
        Literal["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        | None
    )
    credential: CredentialResource | None
    version: int
    created_at: datetime
    updated_at: datetime

    CONVERTERS = {
        "id": UUID,
        "owner_id": UUID,
        "offered_owner_id": UUID,
        "public_since": datetime.fromisoformat,
        "made_public_by": UUID,
        "credential": lambda value: CredentialResource.decode(value),
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
    }


class ConnectorWithGrants(Model):
    id: UUID
    name: str
    url: str
    description: str
    owner_id: UUID
    offered_owner_id: UUID | None
    visibility: Literal["private", "public"]
    public_since: datetime | None
    made_public_by: UUID | None
    slug: str
    record_mode: Literal["strict", "batched"]
    protocol_revision: (
        Literal["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        | None
    )
    credential: CredentialResource | None
    version: int
    created_at: datetime
    updated_at: datetime
    grants: Sequence[Grant]

    CONVERTERS = {
        "id": UUID,
        "owner_id": UUID,
        "offered_owner_id": UUID,
        "public_since": datetime.fromisoformat,
        "made_public_by": UUID,
        "credential": lambda value: CredentialResource.decode(value),
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
        "grants": lambda value: list_of(Grant.decode)(value),
    }


class Consistency(Model):
    """Hashes in base64; ``checkpoint`` is the signed one of the second size, if any."""

    first_size: int
    first_root: str
    second_size: int
    second_root: str
    hashes: Sequence[str]
    checkpoint: str | None


class ContractEntry(Model):
    """A model's prices by contract: those it fixes, and list prices less its discount.

    `price_version` is of the contract for the model, or else of the one for all models
    of the provider. Null: unknown, or only the list has one, in another currency.
    """

    price_version: int
    discount_percent: Decimal | None
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None

    CONVERTERS = {
        "discount_percent": decimal,
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
        "effective_from": datetime.fromisoformat,
        "effective_until": datetime.fromisoformat,
    }


class ContractPrice(Model):
    """The terms of a contract in a period.

    `discount_percent` is off every list price that isn't fixed here. Prices are for
    1,000,000 tokens; null fixes none. `currency` is null without prices, `structure`
    holds all rates of a price that has more than the four.
    """

    price_version: int
    discount_percent: Decimal | None
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str | None
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    structure: Structure | None

    CONVERTERS = {
        "discount_percent": decimal,
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
        "effective_from": datetime.fromisoformat,
        "effective_until": datetime.fromisoformat,
        "structure": lambda value: Structure.decode(value),
    }


class ContractPrices(Model):
    prices: Sequence[KnownContract]
    end_cursor: str | None

    CONVERTERS = {
        "prices": lambda value: list_of(KnownContract.decode)(value),
    }


class ContractResource(Model):
    """A provider, a model or null for all of its models, and a contract price.

    `price` is null when the contract price is no longer effective at any time.
    """

    provider_id: UUID
    provider: str
    model: str | None
    version: int
    price: ContractPrice | None

    CONVERTERS = {
        "provider_id": UUID,
        "price": lambda value: ContractPrice.decode(value),
    }


class CostSummary(Model):
    """Costs of a session.

    `total` is what is charged, by contracts where there are any. `traces_without_price`
    is null when the cost comes from the trace store; `unpriced` names the reasons,
    `several_currencies` also where traces that have prices differ in their currency.
    The costs of its traces were computed by the price catalog as recorded at times from
    `first_priced_at` to `last_priced_at`; null without traces.
    """

    total: TotalCost
    traces_without_price: int | None
    unpriced: Sequence[
        Literal[
            "no_such_model",
            "no_price_then",
            "count_missing",
            "counts_contradict",
            "contract_lacks_rate",
            "several_currencies",
        ]
    ]
    first_priced_at: datetime | None
    last_priced_at: datetime | None
    list_total: ListCost
    reported: ReportedCost

    CONVERTERS = {
        "total": lambda value: TotalCost.decode(value),
        "first_priced_at": datetime.fromisoformat,
        "last_priced_at": datetime.fromisoformat,
        "list_total": lambda value: ListCost.decode(value),
        "reported": lambda value: ReportedCost.decode(value),
    }


class CredentialResource(Model):
    """What the gateway sends: in which header, and whose secret; never its value."""

    whose: Literal["owner", "caller"]
    header: str
    scheme: str | None


class CredentialReturns(Model):
    """Answers of its server that held the credential that it was sent.

    At its present URL: ``count`` of them, the last at ``last_at``. ``message`` says
    what to do.
    """

    count: int
    last_at: datetime
    message: str

    CONVERTERS = {
        "last_at": datetime.fromisoformat,
    }


class CurrencyCost(Model):
    currency: str
    cost: Decimal

    CONVERTERS = {
        "cost": decimal,
    }


class DecisionsDifference(Model):
    """Rules that differ between two positions, and decisions on tools.

    Decided by rules, grants and tool definitions, as calls are. The tools are those
    that the connector was observed to have, and those named in the request.
    ``not_observed`` are connectors that the agent held, whose tools weren't known yet
    at the later position.
    """

    added: Sequence[ToolRule]
    removed: Sequence[ToolRule]
    unchanged: int
    agent_id: UUID
    since_position: int
    until_position: int
    connectors: Sequence[ConnectorDifference]
    not_observed: Sequence[UUID]

    CONVERTERS = {
        "added": lambda value: list_of(ToolRule.decode)(value),
        "removed": lambda value: list_of(ToolRule.decode)(value),
        "agent_id": UUID,
        "connectors": lambda value: list_of(ConnectorDifference.decode)(value),
        "not_observed": list_of(UUID),
    }


class Definitions(Model):
    connector_id: UUID
    version: int
    tools: Sequence[ToolDefinition]

    CONVERTERS = {
        "connector_id": UUID,
        "tools": lambda value: list_of(ToolDefinition.decode)(value),
    }


class DestroyedKey(Model):
    user_id: UUID

    CONVERTERS = {
        "user_id": UUID,
    }


class Difference(Model):
    """A value that differs; null is also one that is missing."""

    path: str
    before: Any
    after: Any


class DifferingTurns(Model):
    """Turns whose cost differs by more than 1 % from what is reported.

    `cost` is their sum, `reported_cost` that of what is reported, in US dollars.
    """

    turns: int
    cost: Decimal | None
    reported_cost: float | None

    CONVERTERS = {
        "cost": decimal,
        "reported_cost": float,
    }


class ExplainedModelCall(Model):
    """A call with where its name led when it was decided.

    `explanation` is null for a name that isn't on record, and for who doesn't see the
    agent.
    """

    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    dialect: Dialect
    counts_only: bool | None
    asked_for: str | None
    decision: Literal["admitted", "refused"]
    reason: str | None
    times: int
    record_mode: RecordMode
    route: str | None
    tier: str | None
    preset_id: UUID | None
    preset_version: int | None
    connection_id: UUID | None
    model: str | None
    chosen_by: ChosenBy | None
    session_id: str | None
    trace_id: str | None
    outcome: (
        Literal[
            "ok",
            "provider_error",
            "no_answer",
            "cut",
            "timeout",
            "cancelled",
            "stopped",
            "refused",
            "running",
            "unknown",
        ]
        | None
    )
    status: int | None
    duration_ms: int | None
    first_byte_ms: int | None
    request_bytes: int | None
    answer_bytes: int | None
    attempts: Sequence[CallAttempt]
    response_id: str | None
    usage: CallUsage | None
    explanation: RoutingExplanation | None

    CONVERTERS = {
        "id": UUID,
        "at": datetime.fromisoformat,
        "agent_id": UUID,
        "token_id": UUID,
        "user_id": UUID,
        "preset_id": UUID,
        "connection_id": UUID,
        "attempts": lambda value: list_of(CallAttempt.decode)(value),
        "usage": lambda value: CallUsage.decode(value),
        "explanation": lambda value: RoutingExplanation.decode(value),
    }


class ExplainedRoute(Model):
    """A route; the first that matches the name is the decisive one."""

    model: str
    preset_id: UUID | None
    tier: str | None
    matched: bool
    decisive: bool

    CONVERTERS = {
        "preset_id": UUID,
    }


class ExplainedRule(Model):
    """A rule of the connector; a decisive one matches and has the rules' stance.

    ``since`` is the event that added it.
    """

    tool_pattern: str
    stance: Stance
    matched: bool
    decisive: bool
    since: Origin

    CONVERTERS = {
        "since": lambda value: Origin.decode(value),
    }


class ExplainedToolCall(Model):
    """A call with the decision as it was made; null for a tool that isn't known."""

    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID | None
    tool: str | None
    asked_for: str | None
    decision: Literal["admitted", "refused"]
    reason: str | None
    times: int
    record_mode: Literal["strict", "batched"]
    stance: str | None
    rule: str | None
    definition: str | None
    approval_id: UUID | None
    session_id: str | None
    trace_id: str | None
    outcome: (
        Literal[
            "ok",
            "tool_error",
            "upstream_error",
            "timeout",
            "cancelled",
            "too_large",
            "not_sent",
            "running",
            "unknown",
        ]
        | None
    )
    duration_ms: int | None
    upstream_ms: int | None
    request_bytes: int | None
    answer_bytes: int | None
    explanation: Explanation | None

    CONVERTERS = {
        "id": UUID,
        "at": datetime.fromisoformat,
        "agent_id": UUID,
        "token_id": UUID,
        "user_id": UUID,
        "connector_id": UUID,
        "approval_id": UUID,
        "explanation": lambda value: Explanation.decode(value),
    }


class Explanation(Model):
    """A decision with the rules and grants that it is based on.

    ``version`` is that of the agent's rules, 0 if it never had any. ``position`` is the
    log position of this answer. A retired connector doesn't exist, and a retired agent
    holds none. ``stance_since`` is the event that last changed the decision for this
    tool, ``granted_since`` the event that last granted or revoked the connector; null
    if there was none. ``looked_back_to`` is 0, or for a history of thousands of changes
    that concern the tool the position from which on these were looked at: a null then
    says that the decision has been the same since there. ``definition`` compares the
    tool's definition with the accepted one, null if the connector lists no such tool,
    and if the agent doesn't hold the connector and the caller can't see it; before its
    tools were first observed, the rules alone decide. ``explained_tool`` is the tool
    that all this is about: ``tool``, or what that is an alias of in the lists of
    agents.
    """

    agent_id: UUID
    connector_id: UUID
    tool: str
    explained_tool: str
    stance: Stance
    stance_since: Origin | None
    looked_back_to: int
    reason: Literal[
        "rule",
        "no_rule_matches",
        "connector_not_granted",
        "no_connector",
        "agent_retired",
        "new_definition",
        "definition_changed",
        "no_such_tool",
    ]
    connector_exists: bool
    granted: bool
    granted_since: Origin | None
    definition: Standing | None
    rules: Sequence[ExplainedRule]
    version: int
    position: int

    CONVERTERS = {
        "agent_id": UUID,
        "connector_id": UUID,
        "stance_since": lambda value: Origin.decode(value),
        "granted_since": lambda value: Origin.decode(value),
        "rules": lambda value: list_of(ExplainedRule.decode)(value),
    }


class ExportedLogs(Model):
    partialSuccess: LogsPartialSuccess | NotGiven = NOT_GIVEN

    CONVERTERS = {
        "partialSuccess": lambda value: LogsPartialSuccess.decode(value),
    }


class ExportedMetrics(Model):
    pass


class ExportedTraces(Model):
    partialSuccess: PartialSuccess | NotGiven = NOT_GIVEN

    CONVERTERS = {
        "partialSuccess": lambda value: PartialSuccess.decode(value),
    }


class Exposure(Model):
    """Grants and publications in effect at any time between two positions.

    ``owner_id`` is the owner at the later one. While a connector is public, any manager
    of an agent can have it granted without its owner. Such grants are listed, too.
    """

    connector_id: UUID
    owner_id: UUID
    since_position: int
    until_position: int
    grants: Sequence[GrantSpan]
    publications: Sequence[Span]

    CONVERTERS = {
        "connector_id": UUID,
        "owner_id": UUID,
        "grants": lambda value: list_of(GrantSpan.decode)(value),
        "publications": lambda value: list_of(Span.decode)(value),
    }


class FollowerHealth(Model):
    name: str
    position: int
    lag: int
    lag_s: float
    stopped: str | None

    CONVERTERS = {
        "lag_s": float,
    }


class FoundUser(Model):
    """A user with their present name."""

    id: UUID
    name: str | None

    CONVERTERS = {
        "id": UUID,
    }


class Grant(Model):
    """A grant to an agent, or an offer that awaits the consent of a side."""

    agent_id: UUID
    state: Literal["granted", "offered"]
    awaiting: Literal["connector", "agent"] | None

    CONVERTERS = {
        "agent_id": UUID,
    }


class GrantResource(Model):
    """The state of a grant; ``version`` is the connector's."""

    connector_id: UUID
    agent_id: UUID
    state: Literal["granted", "offered", "none"]
    awaiting: Literal["connector", "agent"] | None
    version: int

    CONVERTERS = {
        "connector_id": UUID,
        "agent_id": UUID,
    }


class GrantSpan(Model):
    """A period in which an agent held the connector."""

    since: Origin
    until: Origin | None
    agent_id: UUID

    CONVERTERS = {
        "since": lambda value: Origin.decode(value),
        "until": lambda value: Origin.decode(value),
        "agent_id": UUID,
    }


class Health(Model):
    """Whether a connector's tools can be listed, and why not.

    ``message`` says it in words. ``cause`` is a stable name of why not. ``failures``
    counts those in a row, since ``failing_since``. ``tools`` is how many were taken at
    ``succeeded_at``. ``next_at`` is null of a connector that no agent holds, which is
    observed once at each URL, and when somebody asks for it. ``credential_returned`` is
    null unless its server sends back the credential that it is sent.
    """

    connector_id: UUID
    state: HealthState
    message: str
    cause: Cause | None
    attempted_at: datetime | None
    succeeded_at: datetime | None
    failing_since: datetime | None
    failures: int
    next_at: datetime | None
    tools: int | None
    left_out: ToolsLeftOut | None
    credential_returned: CredentialReturns | None

    CONVERTERS = {
        "connector_id": UUID,
        "attempted_at": datetime.fromisoformat,
        "succeeded_at": datetime.fromisoformat,
        "failing_since": datetime.fromisoformat,
        "next_at": datetime.fromisoformat,
        "left_out": lambda value: ToolsLeftOut.decode(value),
        "credential_returned": lambda value: CredentialReturns.decode(value),
    }


class HeldReason(Model):
    code: str
    reason: str


class Hours(Model):
    """A time of day in UTC, from ``start`` to just before ``end``: ``"16:30"``.

    Either may have seconds, and a day ends at ``"24:00"``. It contains midnight if it
    ends before it starts. ``weekdays`` are 1, Monday, to 7, of the day on which the
    model call starts; none means every day.
    """

    start: str
    end: str
    weekdays: Sequence[int]


class HoursBody(Model):
    """A time of day in UTC, from `start` to just before `end`: `16:30` or `16:30:00`.

    It contains midnight if it ends before it starts; a day is from `00:00` to `24:00`.
    """

    start: str
    end: str
    weekdays: Sequence[int] | NotGiven = NOT_GIVEN


class ImportCounts(Model):
    added: int
    changed: int
    unchanged: int
    held: int
    skipped: int
    vanished: int


class ImportReport(Model):
    """Differences between a price list and the catalog.

    ``vanished`` models had a price from this list, which no longer contains them; their
    prices stay. ``match_rules_changed``: providers whose rules for names have changed.
    ``not_held``: names in ``confirm`` for which nothing was held back.
    """

    source: PriceSource
    dry_run: bool
    counts: ImportCounts
    differences: Sequence[ModelDifference]
    skipped: Sequence[SkippedRow]
    vanished: Sequence[str]
    match_rules_changed: Sequence[str]
    not_held: Sequence[str]

    CONVERTERS = {
        "source": lambda value: PriceSource.decode(value),
        "counts": lambda value: ImportCounts.decode(value),
        "differences": lambda value: list_of(ModelDifference.decode)(value),
        "skipped": lambda value: list_of(SkippedRow.decode)(value),
    }


class Inclusion(Model):
    """Hashes in base64; ``checkpoint`` is the signed one of that size, if kept."""

    position: int
    leaf_index: int
    tree_size: int
    leaf_hash: str
    root_hash: str
    hashes: Sequence[str]
    checkpoint: str | None


class IssuedAgentToken(Model):
    """A new token; the service has only its hash."""

    id: UUID
    agent_id: UUID
    user_id: UUID | None
    issued_by: UUID
    label: str
    created_at: datetime
    expires_at: datetime | None
    token: Secret

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "user_id": UUID,
        "issued_by": UUID,
        "created_at": datetime.fromisoformat,
        "expires_at": datetime.fromisoformat,
        "token": Secret,
    }


class IssuedToken(Model):
    """The only answer that contains the token itself."""

    id: UUID
    user_id: UUID
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    token: Secret

    CONVERTERS = {
        "id": UUID,
        "user_id": UUID,
        "created_at": datetime.fromisoformat,
        "expires_at": datetime.fromisoformat,
        "revoked_at": datetime.fromisoformat,
        "token": Secret,
    }


class KnownContract(Model):
    """A contract price, and the log positions between which it was recorded.

    `model` is null for a discount on all models. `known_until` is null while the record
    is current.
    """

    price_version: int
    discount_percent: Decimal | None
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str | None
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    structure: Structure | None
    provider_id: UUID
    provider: str
    display_name: str
    model: str | None
    known_from: int
    known_from_time: datetime
    known_until: int | None
    known_until_time: datetime | None

    CONVERTERS = {
        "discount_percent": decimal,
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
        "effective_from": datetime.fromisoformat,
        "effective_until": datetime.fromisoformat,
        "structure": lambda value: Structure.decode(value),
        "provider_id": UUID,
        "known_from_time": datetime.fromisoformat,
        "known_until_time": datetime.fromisoformat,
    }


class KnownPart(Model):
    """A part of the known costs.

    Turns are counted for each model. `share_of_cost` is null without a cost, and with
    costs in several currencies.
    """

    turns: int
    share_of_turns: float | None
    costs: Sequence[CurrencyCost]
    share_of_cost: float | None

    CONVERTERS = {
        "share_of_turns": float,
        "costs": lambda value: list_of(CurrencyCost.decode)(value),
        "share_of_cost": float,
    }


class KnownPrice(Model):
    """A price for a period, and the log positions between which it was recorded.

    ``known_until`` is null while the record is current. ``structure`` holds all rates
    of a price that has more than the four amounts, null for others.
    """

    price_version: int
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    structure: Structure | None
    source: PriceSource
    known_from: int
    known_from_time: datetime
    known_until: int | None
    known_until_time: datetime | None

    CONVERTERS = {
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
        "effective_from": datetime.fromisoformat,
        "effective_until": datetime.fromisoformat,
        "structure": lambda value: Structure.decode(value),
        "source": lambda value: PriceSource.decode(value),
        "known_from_time": datetime.fromisoformat,
        "known_until_time": datetime.fromisoformat,
    }


class LabelFraction(Model):
    label: str
    fraction: float | None

    CONVERTERS = {
        "fraction": float,
    }


class ListCost(Model):
    """The cost by list prices, as if there were no contracts; null if unknown."""

    cost: Decimal | None
    currency: str | None

    CONVERTERS = {
        "cost": decimal,
    }


class ListedApproval(Model):
    """An approval as of the last time that it was asked for.

    ``decided_at`` is when a person approved, refused or withdrew it last.
    """

    id: UUID
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID
    tool: str
    definition: str
    state: ApprovalState
    requested_at: datetime
    expires_at: datetime
    decided_by: UUID | None
    reason: str | None
    version: int
    decided_at: datetime | None
    call_id: UUID | None

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "token_id": UUID,
        "user_id": UUID,
        "connector_id": UUID,
        "requested_at": datetime.fromisoformat,
        "expires_at": datetime.fromisoformat,
        "decided_by": UUID,
        "decided_at": datetime.fromisoformat,
        "call_id": UUID,
    }


class ListedConnector(Model):
    """A connector of a list; ``health`` says whether its tools can be listed.

    ``health_message`` says why not, if they can't. ``health_at`` is when that was last
    tried.
    """

    id: UUID
    name: str
    url: str
    description: str
    owner_id: UUID
    offered_owner_id: UUID | None
    visibility: Literal["private", "public"]
    public_since: datetime | None
    made_public_by: UUID | None
    slug: str
    record_mode: Literal["strict", "batched"]
    protocol_revision: (
        Literal["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        | None
    )
    credential: CredentialResource | None
    version: int
    created_at: datetime
    updated_at: datetime
    health: HealthState
    health_message: str | None
    health_at: datetime | None

    CONVERTERS = {
        "id": UUID,
        "owner_id": UUID,
        "offered_owner_id": UUID,
        "public_since": datetime.fromisoformat,
        "made_public_by": UUID,
        "credential": lambda value: CredentialResource.decode(value),
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
        "health_at": datetime.fromisoformat,
    }


class ListedSecret(Model):
    name: str
    version: int
    fingerprint: str
    updated_at: datetime
    updated_by: UUID
    created_at: datetime

    CONVERTERS = {
        "updated_at": datetime.fromisoformat,
        "updated_by": UUID,
        "created_at": datetime.fromisoformat,
    }


class LogCheckHealth(Model):
    position: int
    completed_at: datetime | None
    contradiction: str | None

    CONVERTERS = {
        "completed_at": datetime.fromisoformat,
    }


class LogsPartialSuccess(Model):
    rejectedLogRecords: str
    errorMessage: str


class Me(Model):
    """The calling user, and the id of the token of this request."""

    id: UUID
    name: str | None
    roles: Sequence[Role]
    is_disabled: bool
    is_erased: bool
    version: int
    created_at: datetime
    updated_at: datetime
    token_id: UUID | None

    CONVERTERS = {
        "id": UUID,
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
        "token_id": UUID,
    }


class ModelCallList(Model):
    calls: Sequence[ModelCall]
    end_cursor: int | None

    CONVERTERS = {
        "calls": lambda value: list_of(ModelCall.decode)(value),
    }


class ModelCall(Model):
    """A call, or refused calls of the same kind (`times`).

    `outcome` is `running` until the end is recorded, and `unknown` if it isn't after
    two hours; null for a refusal, whose `reason` is the error's code. `asked_for` is
    the name that the client sent, null for one that no model could have. `route` is the
    pattern of the routing that decided, `model` what the connection was asked for last,
    and `chosen_by` why the first target was the first. `usage` is null while a call
    runs, and for what costs nothing, such as a provider's error, or a count of tokens
    (`counts_only`).
    """

    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    dialect: Dialect
    counts_only: bool | None
    asked_for: str | None
    decision: Literal["admitted", "refused"]
    reason: str | None
    times: int
    record_mode: RecordMode
    route: str | None
    tier: str | None
    preset_id: UUID | None
    preset_version: int | None
    connection_id: UUID | None
    model: str | None
    chosen_by: ChosenBy | None
    session_id: str | None
    trace_id: str | None
    outcome: (
        Literal[
            "ok",
            "provider_error",
            "no_answer",
            "cut",
            "timeout",
            "cancelled",
            "stopped",
            "refused",
            "running",
            "unknown",
        ]
        | None
    )
    status: int | None
    duration_ms: int | None
    first_byte_ms: int | None
    request_bytes: int | None
    answer_bytes: int | None
    attempts: Sequence[CallAttempt]
    response_id: str | None
    usage: CallUsage | None

    CONVERTERS = {
        "id": UUID,
        "at": datetime.fromisoformat,
        "agent_id": UUID,
        "token_id": UUID,
        "user_id": UUID,
        "preset_id": UUID,
        "connection_id": UUID,
        "attempts": lambda value: list_of(CallAttempt.decode)(value),
        "usage": lambda value: CallUsage.decode(value),
    }


class ModelDifference(Model):
    """A model whose price the import adds, changes or holds back."""

    provider: str
    model: str
    outcome: ImportOutcome
    held_because: Sequence[HeldReason]
    changes: Sequence[PriceChange]

    CONVERTERS = {
        "held_because": lambda value: list_of(HeldReason.decode)(value),
        "changes": lambda value: list_of(PriceChange.decode)(value),
    }


class ModelEntry(Model):
    """A model and its effective list price; null is unknown, 0 is free.

    ``pricing_available``: both base prices are known. ``contract`` has the prices that
    model calls are charged by instead, null without a contract.
    """

    model: str
    pricing_available: bool
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    contract: ContractEntry | None

    CONVERTERS = {
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
        "effective_from": datetime.fromisoformat,
        "effective_until": datetime.fromisoformat,
        "contract": lambda value: ContractEntry.decode(value),
    }


class ModelPrice(Model):
    """Prices of 1,000,000 tokens, contracts included.

    For a prompt of the length asked about, otherwise a short one. Null is unknown, or
    for cached tokens the price of input; 0 is free. ``priced_as`` is the entry of the
    catalog, ``provider/model``.
    """

    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str | None
    priced_as: str
    price_id: str | None
    contract_id: str | None

    CONVERTERS = {
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
    }


class ModelRoute(Model):
    """A name of a model that a client sends, and what answers it.

    ``model`` is a glob; either ``preset_id`` or ``tier`` is set.
    """

    model: str
    preset_id: UUID | None
    tier: str | None

    CONVERTERS = {
        "preset_id": UUID,
    }


class ModelRouteBody(Model):
    """A name of a model, and the preset or the tier that answers it."""

    model: str
    preset_id: UUID | str | None | NotGiven = NOT_GIVEN
    tier: str | None | NotGiven = NOT_GIVEN

    CONVERTERS = {
        "preset_id": UUID,
    }


class NamesChange(Model):
    """Agents see the connector's tools under other names, which begin otherwise.

    ``agents`` hold the connector; ``agent_ids`` are the first 20 of them. Digits of the
    connector's id follow the prefix for an agent that has rules for two connectors with
    the same slug: then names of the other one's tools may change, too.
    """

    code: Literal["names_change"]
    message: str
    connector_id: UUID
    prefix_before: str
    prefix_after: str
    agents: int
    agent_ids: Sequence[UUID]

    CONVERTERS = {
        "connector_id": UUID,
        "agent_ids": list_of(UUID),
    }


class NextTurns(Model):
    started_at: datetime
    session: UUID
    version: int

    CONVERTERS = {
        "started_at": datetime.fromisoformat,
        "session": UUID,
    }


class Origin(Model):
    """The event that caused something, its author and its time.

    ``actor`` is a user's id, or ``system``.
    """

    position: int
    recorded_at: datetime
    kind: str
    actor: str | None

    CONVERTERS = {
        "recorded_at": datetime.fromisoformat,
    }


class Pagination(Model):
    has_next_page: bool
    end_cursor: str | None


class PartialSuccess(Model):
    rejectedSpans: str
    errorMessage: str


class PlannedGroup(Model):
    targets: Sequence[PlannedTarget]

    CONVERTERS = {
        "targets": lambda value: list_of(PlannedTarget.decode)(value),
    }


class PlannedTarget(Model):
    """A target of a preset; ``problem`` says why no call is sent there.

    ``fits`` says whether the prompt asked about fits into the context window, null if
    that isn't known. ``price`` is null if there is none.
    """

    connection_id: UUID
    connection: str
    provider: str
    model: str
    weight: int
    context_window: int | None
    problem: TargetProblem | None
    fits: bool | None
    price: ModelPrice | None

    CONVERTERS = {
        "connection_id": UUID,
        "price": lambda value: ModelPrice.decode(value),
    }


class PresetChange(Model):
    """A part of a preset that differs, in words."""

    part: str
    before: str
    after: str


class PresetGrant(Model):
    """Whether a preset is granted to an agent; ``version`` is the preset's."""

    preset_id: UUID
    agent_id: UUID
    state: Literal["granted", "none"]
    version: int

    CONVERTERS = {
        "preset_id": UUID,
        "agent_id": UUID,
    }


class PresetGroup(Model):
    """Targets that stand beside each other."""

    targets: Sequence[PresetTarget]

    CONVERTERS = {
        "targets": lambda value: list_of(PresetTarget.decode)(value),
    }


class PresetGroupBody(Model):
    targets: Sequence[PresetTargetBody]

    CONVERTERS = {
        "targets": lambda value: list_of(PresetTargetBody.decode)(value),
    }


class PresetList(Model):
    presets: Sequence[PresetResource]
    end_cursor: UUID | None

    CONVERTERS = {
        "presets": lambda value: list_of(PresetResource.decode)(value),
        "end_cursor": UUID,
    }


class PresetResource(Model):
    """Groups of targets in order, and how a call is tried on them."""

    name: str
    description: str
    visibility: Literal["private", "public"]
    groups: Sequence[PresetGroup]
    attempts: int
    total_timeout_s: int
    first_byte_timeout_s: int
    idle_timeout_s: int
    sticky_s: int
    fall_back_on: Sequence[int]
    id: UUID
    owner_id: UUID
    version: int
    created_at: datetime
    updated_at: datetime

    CONVERTERS = {
        "groups": lambda value: list_of(PresetGroup.decode)(value),
        "id": UUID,
        "owner_id": UUID,
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
    }


class PresetTarget(Model):
    """A connection, and the model that it is asked for.

    Among the targets of a group, one gets calls in proportion to its ``weight``.
    ``context_window`` is in tokens, null where it isn't known.
    """

    connection_id: UUID
    model: str
    weight: int
    context_window: int | None

    CONVERTERS = {
        "connection_id": UUID,
    }


class PresetTargetBody(Model):
    connection_id: UUID
    model: str
    weight: int | NotGiven = NOT_GIVEN
    context_window: int | None | NotGiven = NOT_GIVEN

    CONVERTERS = {
        "connection_id": UUID,
    }


class PresetWithGrants(Model):
    """A preset, and what all connections speak that its calls can be sent to.

    ``problem`` says why nobody can call it. ``granted_to`` are agents, null for callers
    who neither own it nor see everything.
    """

    name: str
    description: str
    visibility: Literal["private", "public"]
    groups: Sequence[PresetGroup]
    attempts: int
    total_timeout_s: int
    first_byte_timeout_s: int
    idle_timeout_s: int
    sticky_s: int
    fall_back_on: Sequence[int]
    id: UUID
    owner_id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    dialects: Sequence[Dialect]
    problem: RoutingProblem | None
    granted_to: Sequence[UUID] | None

    CONVERTERS = {
        "groups": lambda value: list_of(PresetGroup.decode)(value),
        "id": UUID,
        "owner_id": UUID,
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
        "granted_to": list_of(UUID),
    }


class PreviewedCalls(Model):
    """The calls of the connectors named since a time, and those decided otherwise.

    ``is_complete`` is false if there were more different tools than are compared; then
    those called most are. ``examples`` are the changed calls that were most frequent.
    """

    since: datetime
    calls: int
    changed: int
    is_complete: bool
    examples: Sequence[ChangedCalls]

    CONVERTERS = {
        "since": datetime.fromisoformat,
        "examples": lambda value: list_of(ChangedCalls.decode)(value),
    }


class PreviewedModelCalls(Model):
    """The calls of the agent's recorded turns since a time, and those routed otherwise.

    By the model's name as it is recorded. ``is_complete`` is false if there were more
    models than are compared; then those called most are.
    """

    since: datetime
    calls: int
    changed: int
    is_complete: bool
    examples: Sequence[ReroutedCalls]

    CONVERTERS = {
        "since": datetime.fromisoformat,
        "examples": lambda value: list_of(ReroutedCalls.decode)(value),
    }


class PreviewedPreset(Model):
    """What a change of a preset would do; ``version`` is the present one, for If-Match.

    ``agents`` are those that are routed here and that the caller can see, with
    ``other_agents`` as the number of others. ``losing`` are those of them that could
    call the preset and no longer could, ``other_losing`` the number of others.
    `is_complete` is false if there are more than 1,000: then it is about these.
    """

    preset_id: UUID
    version: int
    changes: Sequence[PresetChange]
    agents: Sequence[RoutedAgent]
    other_agents: int
    losing: Sequence[UUID]
    other_losing: int
    is_complete: bool

    CONVERTERS = {
        "preset_id": UUID,
        "changes": lambda value: list_of(PresetChange.decode)(value),
        "agents": lambda value: list_of(RoutedAgent.decode)(value),
        "losing": list_of(UUID),
    }


class PreviewedRouting(Model):
    """What a replacement would do; ``version`` is the current one, for If-Match.

    ``added`` and ``removed`` are routes; ``reordered`` says that the others stand in
    another order. ``names`` are those that the routes before and after spell out and
    that would lead elsewhere. By the routes in ``problems`` nothing could be called.
    """

    agent_id: UUID
    version: int
    added: Sequence[ModelRoute]
    removed: Sequence[ModelRoute]
    reordered: bool
    problems: Sequence[RouteProblem]
    names: Sequence[ChangedName]
    recorded: PreviewedModelCalls

    CONVERTERS = {
        "agent_id": UUID,
        "added": lambda value: list_of(ModelRoute.decode)(value),
        "removed": lambda value: list_of(ModelRoute.decode)(value),
        "problems": lambda value: list_of(RouteProblem.decode)(value),
        "names": lambda value: list_of(ChangedName.decode)(value),
        "recorded": lambda value: PreviewedModelCalls.decode(value),
    }


class PreviewedRules(Model):
    """What replacing the rules would do; ``version`` is the current one, for If-Match.

    ``connectors`` has the decisions that would change, of the tools that the connector
    was observed to have. ``not_observed`` are connectors whose tools aren't known yet.
    ``recorded`` has what would become of the calls of the past days. Decisions are
    those of calls now, definitions included: a hidden tool is denied, whatever rules
    say, and a new one is asked about under a wildcard.
    """

    agent_id: UUID
    version: int
    added: Sequence[ToolRule]
    removed: Sequence[ToolRule]
    unchanged: int
    connectors: Sequence[ConnectorDecisions]
    not_observed: Sequence[UUID]
    recorded: PreviewedCalls
    warnings: Sequence[ToolRuleWarning]

    CONVERTERS = {
        "agent_id": UUID,
        "added": lambda value: list_of(ToolRule.decode)(value),
        "removed": lambda value: list_of(ToolRule.decode)(value),
        "connectors": lambda value: list_of(ConnectorDecisions.decode)(value),
        "not_observed": list_of(UUID),
        "recorded": lambda value: PreviewedCalls.decode(value),
        "warnings": lambda value: list_of(ToolRuleWarning.decode)(value),
    }


class PreviewedTiers(Model):
    """What a replacement would do; ``version`` is the current one, for If-Match.

    ``agents`` have routes to a tier that changes and no preset of their own for it, the
    first of them where there are more: then `is_complete` is false.
    """

    version: int
    changes: Sequence[TierChange]
    agents: Sequence[RoutedAgent]
    is_complete: bool

    CONVERTERS = {
        "changes": lambda value: list_of(TierChange.decode)(value),
        "agents": lambda value: list_of(RoutedAgent.decode)(value),
    }


class PriceChange(Model):
    """A period's price before the import, null for none, and in the price list.

    `doubt` is the first amount for which the change is held back, if it is.
    """

    effective_from: datetime
    effective_until: datetime | None
    before: PriceValues | None
    after: PriceValues
    doubt: PriceDoubt | None

    CONVERTERS = {
        "effective_from": datetime.fromisoformat,
        "effective_until": datetime.fromisoformat,
        "before": lambda value: PriceValues.decode(value),
        "after": lambda value: PriceValues.decode(value),
        "doubt": lambda value: PriceDoubt.decode(value),
    }


class PriceDoubt(Model):
    """A unit's price, or what a usual model call costs, that looks like an error.

    `condition` is a service tier, hours or a length; empty where there is none. An
    amount of null is none, or unknown.
    """

    subject: str
    condition: str
    before: Decimal | None
    after: Decimal | None

    CONVERTERS = {
        "before": decimal,
        "after": decimal,
    }


class PriceHistory(Model):
    model_id: UUID
    provider_id: UUID
    provider: str
    display_name: str
    model: str
    version: int
    prices: Sequence[KnownPrice]
    end_cursor: str | None

    CONVERTERS = {
        "model_id": UUID,
        "provider_id": UUID,
        "prices": lambda value: list_of(KnownPrice.decode)(value),
    }


class PriceResource(Model):
    """A price for 1,000,000 tokens; null is unknown, 0 is free.

    ``structure`` holds all rates of a price that has more than these four.
    """

    price_version: int
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    structure: Structure | None
    source: PriceSource

    CONVERTERS = {
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
        "effective_from": datetime.fromisoformat,
        "effective_until": datetime.fromisoformat,
        "structure": lambda value: Structure.decode(value),
        "source": lambda value: PriceSource.decode(value),
    }


class PriceSource(Model):
    """Origin of a price: ``manual``, or one version of a published list."""

    name: str
    version: str | None
    sha256: str | None


class PriceValues(Model):
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    notes: str | None

    CONVERTERS = {
        "input_price_per_1m": decimal,
        "output_price_per_1m": decimal,
        "cache_creation_price_per_1m": decimal,
        "cache_read_price_per_1m": decimal,
    }


class PricedModel(Model):
    """A model and one of its prices.

    ``price`` is null when the price is no longer effective at any time.
    """

    model_id: UUID
    provider_id: UUID
    provider: str
    model: str
    version: int
    price: PriceResource | None

    CONVERTERS = {
        "model_id": UUID,
        "provider_id": UUID,
        "price": lambda value: PriceResource.decode(value),
    }


class ProviderEntry(Model):
    provider: str
    display_name: str
    provider_id: UUID
    models: Sequence[ModelEntry]

    CONVERTERS = {
        "provider_id": UUID,
        "models": lambda value: list_of(ModelEntry.decode)(value),
    }


class Provider(Model):
    id: UUID
    key: str
    display_name: str
    version: int
    created_at: datetime

    CONVERTERS = {
        "id": UUID,
        "created_at": datetime.fromisoformat,
    }


class Rate(Model):
    """The price of a unit, for as many of it as ``usage.UNITS`` says; tiers ascend."""

    price: str
    tiers: Sequence[Tier]

    CONVERTERS = {
        "tiers": lambda value: list_of(Tier.decode)(value),
    }


class RateBody(Model):
    price: Decimal
    tiers: Sequence[TierBody] | NotGiven = NOT_GIVEN

    CONVERTERS = {
        "price": decimal,
        "tiers": lambda value: list_of(TierBody.decode)(value),
    }


class Readiness(Model):
    status: Literal["ready", "degraded", "draining", "unavailable"]
    log_position: int | None
    followers: Sequence[FollowerHealth]
    follower_process: Literal["starting", "running", "ended"] | None
    log_check: LogCheckHealth | None
    signing: str | None
    trace_store: Literal["available", "suspended"] | None

    CONVERTERS = {
        "followers": lambda value: list_of(FollowerHealth.decode)(value),
        "log_check": lambda value: LogCheckHealth.decode(value),
    }


class RemovedRules(Model):
    """The removed rules; ``version`` is that of all of the agent's rules.

    ``warnings`` are about names of other connectors' tools that change.
    """

    agent_id: UUID
    connector_id: UUID
    version: int
    removed: Sequence[ToolRule]
    warnings: Sequence[ToolRuleWarning]

    CONVERTERS = {
        "agent_id": UUID,
        "connector_id": UUID,
        "removed": lambda value: list_of(ToolRule.decode)(value),
        "warnings": lambda value: list_of(ToolRuleWarning.decode)(value),
    }


class ReplacedRouting(Model):
    """The routing; by the routes in ``problems`` nothing can be called now."""

    routes: Sequence[ModelRoute]
    tiers: Mapping[str, UUID]
    agent_id: UUID
    version: int
    problems: Sequence[RouteProblem]

    CONVERTERS = {
        "routes": lambda value: list_of(ModelRoute.decode)(value),
        "tiers": dict_of(UUID),
        "agent_id": UUID,
        "problems": lambda value: list_of(RouteProblem.decode)(value),
    }


class ReplacedRules(Model):
    """The agent's current rules, and what the batch added and removed.

    ``rules`` holds all rules for callers with full agent management, otherwise those of
    the connectors in the batch. If nothing was added or removed, nothing was recorded.
    """

    agent_id: UUID
    version: int
    rules: Sequence[ToolRule]
    added: Sequence[ToolRule]
    removed: Sequence[ToolRule]
    unchanged: int
    warnings: Sequence[ToolRuleWarning]

    CONVERTERS = {
        "agent_id": UUID,
        "rules": lambda value: list_of(ToolRule.decode)(value),
        "added": lambda value: list_of(ToolRule.decode)(value),
        "removed": lambda value: list_of(ToolRule.decode)(value),
        "warnings": lambda value: list_of(ToolRuleWarning.decode)(value),
    }


class ReplacedTierRegistry(Model):
    """The registry, and what the change made different."""

    version: int
    tiers: Mapping[str, UUID]
    changes: Sequence[TierChange]

    CONVERTERS = {
        "tiers": dict_of(UUID),
        "changes": lambda value: list_of(TierChange.decode)(value),
    }


class ReplayedAggregate(Model):
    """An aggregate's state after its events up to a position.

    The format of ``state`` depends on the version of the service.
    """

    id: UUID
    kind: str
    version: int
    position: int
    created_at: datetime
    changed_at: datetime
    state: Mapping[str, Any]

    CONVERTERS = {
        "id": UUID,
        "created_at": datetime.fromisoformat,
        "changed_at": datetime.fromisoformat,
    }


class ReportedCost(Model):
    """What instrumentations report as the cost of their model calls, in US dollars.

    Of `traces` traces; null if none reports one.
    """

    cost: float | None
    traces: int

    CONVERTERS = {
        "cost": float,
    }


class RepricedUsage(Model):
    """The turns of a day and an agent in which a model has another cost or price.

    A turn with several models counts for each of them that changes. `old_cost` sums up
    the turns that had a cost, `new_cost` those that have one now; null if none has. If
    the currency changes, each has a row of its own, and the turns count in the row of
    the new one.
    """

    day: date
    agent_id: UUID
    provider: str | None
    model: str | None
    currency: str | None
    old_cost: Decimal | None
    new_cost: Decimal | None
    turns_changed: int
    turns_getting_a_price: int
    turns_losing_their_price: int

    CONVERTERS = {
        "day": date.fromisoformat,
        "agent_id": UUID,
        "old_cost": decimal,
        "new_cost": decimal,
    }


class RepricingReport(Model):
    """What repricing changes or would change, for one request's turns.

    `turns_not_repriceable` were recorded by a version that didn't record their model
    calls, `turns_skipped` belong to sessions that changed meanwhile: repeat the
    request.
    """

    dry_run: bool
    turns: int
    turns_changed: int
    turns_not_repriceable: int
    turns_skipped: int
    differences: Sequence[RepricedUsage]
    next: NextTurns | None

    CONVERTERS = {
        "differences": lambda value: list_of(RepricedUsage.decode)(value),
        "next": lambda value: NextTurns.decode(value),
    }


class ReroutedCalls(Model):
    """Recorded calls of one model that would be answered by another preset."""

    model: str
    calls: int
    last_at: datetime
    before: RoutedName
    after: RoutedName

    CONVERTERS = {
        "last_at": datetime.fromisoformat,
        "before": lambda value: RoutedName.decode(value),
        "after": lambda value: RoutedName.decode(value),
    }


class RestoredPreset(Model):
    """The preset after the restore, and the log position that its terms are of."""

    name: str
    description: str
    visibility: Literal["private", "public"]
    groups: Sequence[PresetGroup]
    attempts: int
    total_timeout_s: int
    first_byte_timeout_s: int
    idle_timeout_s: int
    sticky_s: int
    fall_back_on: Sequence[int]
    id: UUID
    owner_id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    position: int
    changes: Sequence[PresetChange]

    CONVERTERS = {
        "groups": lambda value: list_of(PresetGroup.decode)(value),
        "id": UUID,
        "owner_id": UUID,
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
        "changes": lambda value: list_of(PresetChange.decode)(value),
    }


class RestoredRouting(Model):
    """The routing after the restore, and the log position that it is restored from.

    ``left_out`` are the routes and tiers of then whose presets the agent may not call
    any more, or whose tier is gone.
    """

    routes: Sequence[ModelRoute]
    tiers: Mapping[str, UUID]
    agent_id: UUID
    version: int
    problems: Sequence[RouteProblem]
    position: int
    left_out: RoutingTerms

    CONVERTERS = {
        "routes": lambda value: list_of(ModelRoute.decode)(value),
        "tiers": dict_of(UUID),
        "agent_id": UUID,
        "problems": lambda value: list_of(RouteProblem.decode)(value),
        "left_out": lambda value: RoutingTerms.decode(value),
    }


class RestoredRules(Model):
    """All of the agent's current rules, and what the restore changed.

    ``position`` is the log position that they are restored from. ``left_out`` lists
    connectors that had rules then and have been retired since.
    """

    agent_id: UUID
    version: int
    position: int
    rules: Sequence[ToolRule]
    added: Sequence[ToolRule]
    removed: Sequence[ToolRule]
    left_out: Sequence[UUID]
    warnings: Sequence[ToolRuleWarning]

    CONVERTERS = {
        "agent_id": UUID,
        "rules": lambda value: list_of(ToolRule.decode)(value),
        "added": lambda value: list_of(ToolRule.decode)(value),
        "removed": lambda value: list_of(ToolRule.decode)(value),
        "left_out": list_of(UUID),
        "warnings": lambda value: list_of(ToolRuleWarning.decode)(value),
    }


class RestoredTiers(Model):
    """The registry after the restore, and the log position that it is restored from.

    ``left_out`` are tiers of then whose presets have been retired since.
    """

    version: int
    tiers: Mapping[str, UUID]
    changes: Sequence[TierChange]
    position: int
    left_out: Sequence[str]

    CONVERTERS = {
        "tiers": dict_of(UUID),
        "changes": lambda value: list_of(TierChange.decode)(value),
    }


class RevokedAgentToken(Model):
    id: UUID
    agent_id: UUID

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
    }


class RouteProblem(Model):
    """A route by which nothing can be called now."""

    model: str
    problem: RoutingProblem


class Route(Model):
    """Where a route leads; ``problem`` says why nothing can be called by it.

    Its targets are in groups in the order in which they are tried, and all of its
    connections speak the ``dialects``.
    """

    model: str
    problem: RoutingProblem | None
    tier: RoutedTier | None
    preset: RoutedPreset | None
    dialects: Sequence[Dialect]
    groups: Sequence[PlannedGroup]

    CONVERTERS = {
        "tier": lambda value: RoutedTier.decode(value),
        "preset": lambda value: RoutedPreset.decode(value),
        "groups": lambda value: list_of(PlannedGroup.decode)(value),
    }


class RoutedAgent(Model):
    """An agent, the names of models that it is routed by, and the tiers on the way."""

    agent_id: UUID
    models: Sequence[str]
    tiers: Sequence[str]

    CONVERTERS = {
        "agent_id": UUID,
    }


class RoutedName(Model):
    """The preset that a name of a model leads to, or why it can't be called."""

    preset_id: UUID | None
    tier: str | None
    problem: RoutingProblem | None

    CONVERTERS = {
        "preset_id": UUID,
    }


class RoutedPreset(Model):
    id: UUID
    name: str
    version: int

    CONVERTERS = {
        "id": UUID,
    }


class RoutedTier(Model):
    """A tier, and whether the agent's routing or the registry says what it is."""

    name: str
    preset_id: UUID | None
    said_by: Literal["agent", "registry"] | None

    CONVERTERS = {
        "preset_id": UUID,
    }


class RoutingAtPosition(Model):
    """The routing as of a position of the log."""

    routes: Sequence[ModelRoute]
    tiers: Mapping[str, UUID]
    agent_id: UUID
    version: int
    position: int

    CONVERTERS = {
        "routes": lambda value: list_of(ModelRoute.decode)(value),
        "tiers": dict_of(UUID),
        "agent_id": UUID,
    }


class RoutingExplanation(Model):
    """Where a name of a model leads, with what that is based on.

    ``problem`` says why it can't be called, null if it can. ``leads_to`` is the
    decisive route with preset, targets and the prices of then; null without a route.
    ``routing_since`` is the event that last changed the routing, ``preset_since`` the
    preset or its grants, ``tiers_since`` the registry: null where there is none.
    """

    agent_id: UUID
    model: str
    position: int
    version: int
    problem: RoutingProblem | None
    routes: Sequence[ExplainedRoute]
    leads_to: Route | None
    routing_since: Origin | None
    tiers_since: Origin | None
    preset_since: Origin | None

    CONVERTERS = {
        "agent_id": UUID,
        "routes": lambda value: list_of(ExplainedRoute.decode)(value),
        "leads_to": lambda value: Route.decode(value),
        "routing_since": lambda value: Origin.decode(value),
        "tiers_since": lambda value: Origin.decode(value),
        "preset_since": lambda value: Origin.decode(value),
    }


class RoutingTerms(Model):
    """Routes in order, the first that matches counts; and tiers of the agent's own."""

    routes: Sequence[ModelRoute]
    tiers: Mapping[str, UUID]

    CONVERTERS = {
        "routes": lambda value: list_of(ModelRoute.decode)(value),
        "tiers": dict_of(UUID),
    }


class RuleOnConnector(Model):
    """One agent's rule; ``position`` is that of the event that added it."""

    agent_id: UUID
    tool_pattern: str
    stance: Stance
    position: int

    CONVERTERS = {
        "agent_id": UUID,
    }


class RulesOnConnector(Model):
    rules: Sequence[RuleOnConnector]
    end_cursor: str | None

    CONVERTERS = {
        "rules": lambda value: list_of(RuleOnConnector.decode)(value),
    }


class SecretList(Model):
    secrets: Sequence[ListedSecret]
    end_cursor: str | None

    CONVERTERS = {
        "secrets": lambda value: list_of(ListedSecret.decode)(value),
    }


class SecretResource(Model):
    """A secret without its value.

    ``fingerprint`` is a keyed hash: equal for equal values of one owner.
    """

    name: str
    version: int
    fingerprint: str
    updated_at: datetime
    updated_by: UUID

    CONVERTERS = {
        "updated_at": datetime.fromisoformat,
        "updated_by": UUID,
    }


class SecretValue(Model):
    """The only answer that contains a secret's value."""

    name: str
    version: int
    value: Secret

    CONVERTERS = {
        "value": Secret,
    }


class SecretVersion(Model):
    """``destroyed_at`` is null while the value exists."""

    version: int
    fingerprint: str
    restored_version: int | None
    created_at: datetime
    created_by: UUID
    destroyed_at: datetime | None

    CONVERTERS = {
        "created_at": datetime.fromisoformat,
        "created_by": UUID,
        "destroyed_at": datetime.fromisoformat,
    }


class SecretWithVersions(Model):
    name: str
    version: int
    fingerprint: str
    updated_at: datetime
    updated_by: UUID
    created_at: datetime
    versions: Sequence[SecretVersion]
    end_cursor: int | None

    CONVERTERS = {
        "updated_at": datetime.fromisoformat,
        "updated_by": UUID,
        "created_at": datetime.fromisoformat,
        "versions": lambda value: list_of(SecretVersion.decode)(value),
    }


class Session(Model):
    id: UUID
    session_id: str
    agent_id: UUID
    user_id: UUID
    start_time: datetime
    end_time: datetime
    duration_ms: int
    has_ended: bool
    cost_summary: CostSummary
    token_usage: TokenUsage
    num_traces: int
    num_traces_with_error: int | None
    trace_latency_ms_p50: float | None
    trace_latency_ms_p99: float | None
    num_tool_calls: int | None
    num_tool_calls_with_error: int | None
    first_input: str | None
    first_input_truncated: bool
    last_output: str | None
    last_output_truncated: bool
    session_annotations: Sequence[SessionAnnotation]
    session_annotation_summaries: Sequence[AnnotationSummary]
    trace_store: Literal["not_configured", "found", "unknown_session", "unavailable"]
    figures_from: Literal["service", "trace_store"]
    trace_store_figures: TraceStoreFigures | None

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "user_id": UUID,
        "start_time": datetime.fromisoformat,
        "end_time": datetime.fromisoformat,
        "cost_summary": lambda value: CostSummary.decode(value),
        "token_usage": lambda value: TokenUsage.decode(value),
        "trace_latency_ms_p50": float,
        "trace_latency_ms_p99": float,
        "session_annotations": lambda value: list_of(SessionAnnotation.decode)(value),
        "session_annotation_summaries": lambda value: list_of(AnnotationSummary.decode)(
            value
        ),
        "trace_store_figures": lambda value: TraceStoreFigures.decode(value),
    }


class SessionAnnotation(Model):
    """An annotation of a session from the trace store."""

    id: str
    name: str
    annotator_kind: str
    label: str | None
    score: float | None
    explanation: str | None
    metadata: Mapping[str, Any] | None
    identifier: str
    source: str
    created_at: datetime
    updated_at: datetime
    user: str | None

    CONVERTERS = {
        "score": float,
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
    }


class SessionList(Model):
    sessions: Sequence[Session]
    pagination: Pagination
    total_agents: int
    successful_agents: int

    CONVERTERS = {
        "sessions": lambda value: list_of(Session.decode)(value),
        "pagination": lambda value: Pagination.decode(value),
    }


class SessionResource(Model):
    id: UUID
    session_id: str
    agent_id: UUID
    user_id: UUID
    started_at: datetime
    ended_at: datetime | None
    turns: int
    version: int

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "user_id": UUID,
        "started_at": datetime.fromisoformat,
        "ended_at": datetime.fromisoformat,
    }


class SessionWithTurns(Model):
    id: UUID
    session_id: str
    agent_id: UUID
    user_id: UUID
    start_time: datetime
    end_time: datetime
    duration_ms: int
    has_ended: bool
    cost_summary: CostSummary
    token_usage: TokenUsage
    num_traces: int
    num_traces_with_error: int | None
    trace_latency_ms_p50: float | None
    trace_latency_ms_p99: float | None
    num_tool_calls: int | None
    num_tool_calls_with_error: int | None
    first_input: str | None
    first_input_truncated: bool
    last_output: str | None
    last_output_truncated: bool
    session_annotations: Sequence[SessionAnnotation]
    session_annotation_summaries: Sequence[AnnotationSummary]
    trace_store: Literal["not_configured", "found", "unknown_session", "unavailable"]
    figures_from: Literal["service", "trace_store"]
    trace_store_figures: TraceStoreFigures | None
    turns: Sequence[ShownTurn]
    has_more_turns: bool

    CONVERTERS = {
        "id": UUID,
        "agent_id": UUID,
        "user_id": UUID,
        "start_time": datetime.fromisoformat,
        "end_time": datetime.fromisoformat,
        "cost_summary": lambda value: CostSummary.decode(value),
        "token_usage": lambda value: TokenUsage.decode(value),
        "trace_latency_ms_p50": float,
        "trace_latency_ms_p99": float,
        "session_annotations": lambda value: list_of(SessionAnnotation.decode)(value),
        "session_annotation_summaries": lambda value: list_of(AnnotationSummary.decode)(
            value
        ),
        "trace_store_figures": lambda value: TraceStoreFigures.decode(value),
        "turns": lambda value: list_of(ShownTurn.decode)(value),
    }


class ShadowingRule(Model):
    tool_pattern: str
    stance: Stance


class ShownTurn(Model):
    num_tool_calls: int | None
    num_tool_calls_with_error: int | None
    turn_id: str
    trace_id: str | None
    start_time: datetime
    end_time: datetime
    latency_ms: float
    provider: str | None
    model: str | None
    token_usage: TokenUsage
    cost: Decimal | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: (
        Literal[
            "no_such_model",
            "no_price_then",
            "count_missing",
            "counts_contradict",
            "contract_lacks_rate",
            "several_currencies",
        ]
        | None
    )
    contract_id: str | None
    list_cost: Decimal | None
    list_currency: str | None
    priced_at: datetime
    reported_cost: float | None
    reported_cost_differs: bool
    estimated: Sequence[str]
    is_error: bool
    error: str | None
    input: str | None
    input_truncated: bool
    output: str | None
    output_truncated: bool

    CONVERTERS = {
        "start_time": datetime.fromisoformat,
        "end_time": datetime.fromisoformat,
        "latency_ms": float,
        "token_usage": lambda value: TokenUsage.decode(value),
        "cost": decimal,
        "list_cost": decimal,
        "priced_at": datetime.fromisoformat,
        "reported_cost": float,
    }


class SkippedRow(Model):
    """A row of the list that can't or shouldn't be imported.

    `is_invalid`: it states a price, but not one that can be.
    """

    provider: str
    model: str
    code: str
    is_invalid: bool
    reason: str


class Span(Model):
    """From one event until another; ``until`` is null while it continues."""

    since: Origin
    until: Origin | None

    CONVERTERS = {
        "since": lambda value: Origin.decode(value),
        "until": lambda value: Origin.decode(value),
    }


class Structure(Model):
    """All rates of a price; the flat amounts repeat some of them."""

    rates: Mapping[str, Rate]
    windows: Sequence[Window]
    variants: Sequence[Variant]

    CONVERTERS = {
        "rates": lambda value: dict_of(Rate.decode)(value),
        "windows": lambda value: list_of(Window.decode)(value),
        "variants": lambda value: list_of(Variant.decode)(value),
    }


class StructureBody(Model):
    """All rates of a price that has more than four amounts."""

    rates: Mapping[str, Any]
    windows: Sequence[WindowBody] | NotGiven = NOT_GIVEN
    variants: Sequence[VariantBody] | NotGiven = NOT_GIVEN

    CONVERTERS = {
        "windows": lambda value: list_of(WindowBody.decode)(value),
        "variants": lambda value: list_of(VariantBody.decode)(value),
    }


class Tier(Model):
    """The price of a unit in a model call with more than ``above`` input tokens."""

    above: int
    price: str


class TierBody(Model):
    above: int
    price: Decimal

    CONVERTERS = {
        "price": decimal,
    }


class TierChange(Model):
    """A tier that stands for another preset; null for none."""

    tier: str
    before: UUID | None
    after: UUID | None

    CONVERTERS = {
        "before": UUID,
        "after": UUID,
    }


class TierRegistry(Model):
    """The preset of each tier, by the tier's name; ``version`` is 0 before the first.

    ``position`` is the log position of this answer.
    """

    version: int
    position: int
    tiers: Mapping[str, UUID]

    CONVERTERS = {
        "tiers": dict_of(UUID),
    }


class TokenList(Model):
    tokens: Sequence[Token]
    end_cursor: UUID | None

    CONVERTERS = {
        "tokens": lambda value: list_of(Token.decode)(value),
        "end_cursor": UUID,
    }


class Token(Model):
    """Metadata of a token, without the token itself."""

    id: UUID
    user_id: UUID
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    CONVERTERS = {
        "id": UUID,
        "user_id": UUID,
        "created_at": datetime.fromisoformat,
        "expires_at": datetime.fromisoformat,
        "revoked_at": datetime.fromisoformat,
    }


class TokenSums(Model):
    total: int | None
    prompt: int | None
    completion: int | None
    cache_read: int | None
    cache_creation: int | None


class TokenUsage(Model):
    total: int | None
    prompt: int | None
    completion: int | None
    cache_read: int | None
    cache_creation: int | None


class ToolCallList(Model):
    calls: Sequence[ToolCall]
    end_cursor: int | None

    CONVERTERS = {
        "calls": lambda value: list_of(ToolCall.decode)(value),
    }


class ToolCall(Model):
    """A call, or refused calls of the same kind (``times``).

    ``outcome`` is ``running`` until the end is recorded, and ``unknown`` if it isn't
    after ten minutes; null for a refusal, whose ``reason`` says why. ``asked_for`` is
    the name that the agent gave for an unknown ``tool``, if a tool could have it.
    ``rule`` is the pattern that decided.
    """

    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID | None
    tool: str | None
    asked_for: str | None
    decision: Literal["admitted", "refused"]
    reason: str | None
    times: int
    record_mode: Literal["strict", "batched"]
    stance: str | None
    rule: str | None
    definition: str | None
    approval_id: UUID | None
    session_id: str | None
    trace_id: str | None
    outcome: (
        Literal[
            "ok",
            "tool_error",
            "upstream_error",
            "timeout",
            "cancelled",
            "too_large",
            "not_sent",
            "running",
            "unknown",
        ]
        | None
    )
    duration_ms: int | None
    upstream_ms: int | None
    request_bytes: int | None
    answer_bytes: int | None

    CONVERTERS = {
        "id": UUID,
        "at": datetime.fromisoformat,
        "agent_id": UUID,
        "token_id": UUID,
        "user_id": UUID,
        "connector_id": UUID,
        "approval_id": UUID,
    }


class ToolDecision(Model):
    tool: str
    before: Stance
    after: Stance


class ToolDefinition(Model):
    """A tool of a connector.

    ``digest`` is that of the definition that the upstream lists, null if it is gone;
    ``accepted_digest`` that of the accepted one. ``differences`` are those between the
    two, ``definition`` is what the upstream lists. ``reason`` says why it can't be
    accepted, and ``left_out`` what of it agents don't see, as strict clients would
    refuse their whole list of tools for it, each with its reason; also where hidden
    characters are removed or marked, or stay, as calls need them. ``name_escaped``
    shows characters of the name that can't be seen.
    """

    tool: str
    name_escaped: str
    standing: Standing
    digest: str | None
    accepted_digest: str | None
    reason: str | None
    left_out: Sequence[str]
    definition: Mapping[str, Any] | None
    differences: Sequence[Difference]

    CONVERTERS = {
        "differences": lambda value: list_of(Difference.decode)(value),
    }


class ToolDifference(Model):
    """A tool with different decisions, and the last event that affected it."""

    tool: str
    before: Stance
    after: Stance
    changed_by: Origin | None

    CONVERTERS = {
        "changed_by": lambda value: Origin.decode(value),
    }


class ToolRule(Model):
    """A stance on the tools of a connector whose whole name matches the pattern."""

    connector_id: UUID
    tool_pattern: str
    stance: Stance

    CONVERTERS = {
        "connector_id": UUID,
    }


class ToolRuleWarning(Model):
    """A rule set that probably doesn't do what its author meant.

    ``rule_shadowed``: the rule never decides, because ``shadowed_by`` is stronger and
    matches every tool, or the same tools. Rules that a stronger one shadows in another
    way have no warning. ``connector_not_granted``: the agent doesn't hold the
    connector, so every tool of it is denied. ``rule_matches_nothing``: the rule matches
    none of the tools that the connector was observed to have, also those that are gone;
    ``suggestion`` is the pattern that was probably meant, where that can be told.
    Before the connector is observed, only for a pattern with the prefix of an MCP
    client or of an agent's list. ``rules_not_compared``: some rules with several
    wildcards were not compared with the connector's tools, as that takes too long.
    ``names_change``: the agent sees the tools of a connector under other names, as a
    connector with the same slug gets rules or loses them; only where rules change.
    """

    code: Literal[
        "rule_shadowed",
        "connector_not_granted",
        "rule_matches_nothing",
        "rules_not_compared",
        "names_change",
    ]
    message: str
    connector_id: UUID
    tool_pattern: str | None
    stance: Stance | None
    shadowed_by: ShadowingRule | None
    suggestion: str | None

    CONVERTERS = {
        "connector_id": UUID,
        "shadowed_by": lambda value: ShadowingRule.decode(value),
    }


class ToolsLeftOut(Model):
    """Tools beyond the bounds; ``names`` has the first of them."""

    count: int
    names: Sequence[str]


class TotalCost(Model):
    cost: Decimal | None
    currency: str | None

    CONVERTERS = {
        "cost": decimal,
    }


class TraceStoreFigures(Model):
    """The trace store's own figures of a session, which may differ from ours."""

    traces: int | None
    traces_with_error: int | None
    tokens: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    currency: str | None
    latency_ms_p50: float | None
    latency_ms_p99: float | None

    CONVERTERS = {
        "cost": float,
        "latency_ms_p50": float,
        "latency_ms_p99": float,
    }


class TurnReceipt(Model):
    session_id: str
    turn_id: str
    turns: int
    version: int


class UnitCosts(Model):
    """The cost divided, to 28 digits; null if it isn't known, or there are none.

    `sessions` have a turn in the group, with `users`.
    """

    sessions: int
    users: int
    per_turn: Decimal | None
    per_session: Decimal | None
    per_user: Decimal | None

    CONVERTERS = {
        "per_turn": decimal,
        "per_session": decimal,
        "per_user": decimal,
    }


class UnknownPart(Model):
    """Turns without a cost, counted for each model: `unpriced` has the reasons."""

    turns: int
    share_of_turns: float | None

    CONVERTERS = {
        "share_of_turns": float,
    }


class UnpricedUses(Model):
    """Why model calls have no cost, and in how many turns, counted for each model."""

    reason: Literal[
        "no_such_model",
        "no_price_then",
        "count_missing",
        "counts_contradict",
        "contract_lacks_rate",
        "several_currencies",
    ]
    turns: int


class Usage(Model):
    turns: int
    turns_with_error: int
    turns_without_price: int
    unpriced: Sequence[UnpricedUses]
    turns_without_usage: int
    token_usage: TokenSums
    known_token_usage: TokenSums
    cost: Decimal | None
    currency: str | None
    known_costs: Sequence[CurrencyCost]
    cost_unknown_because: Sequence[
        Literal[
            "no_such_model",
            "no_price_then",
            "count_missing",
            "counts_contradict",
            "contract_lacks_rate",
            "several_currencies",
        ]
    ]
    completeness: Completeness
    reported_cost: float | None
    reported_cost_difference: float | None
    differing: DifferingTurns
    before: UsageBefore | None
    unit_costs: UnitCosts | None
    starts_at: datetime | None
    day: date | None
    agent_id: UUID | None
    user_id: UUID | None
    provider: str | None
    model: str | None
    priced_as: str | None
    pricing_rule: str | None
    is_other: bool

    CONVERTERS = {
        "unpriced": lambda value: list_of(UnpricedUses.decode)(value),
        "token_usage": lambda value: TokenSums.decode(value),
        "known_token_usage": lambda value: TokenSums.decode(value),
        "cost": decimal,
        "known_costs": lambda value: list_of(CurrencyCost.decode)(value),
        "completeness": lambda value: Completeness.decode(value),
        "reported_cost": float,
        "reported_cost_difference": float,
        "differing": lambda value: DifferingTurns.decode(value),
        "before": lambda value: UsageBefore.decode(value),
        "unit_costs": lambda value: UnitCosts.decode(value),
        "starts_at": datetime.fromisoformat,
        "day": date.fromisoformat,
        "agent_id": UUID,
        "user_id": UUID,
    }


class UsageBefore(Model):
    """The sums of a group in the period before."""

    turns: int
    total_tokens: int | None
    cost: Decimal | None
    currency: str | None
    known_costs: Sequence[CurrencyCost]
    cost_unknown_because: Sequence[
        Literal[
            "no_such_model",
            "no_price_then",
            "count_missing",
            "counts_contradict",
            "contract_lacks_rate",
            "several_currencies",
        ]
    ]

    CONVERTERS = {
        "cost": decimal,
        "known_costs": lambda value: list_of(CurrencyCost.decode)(value),
    }


class UsagePage(Model):
    usage: Sequence[Usage]
    totals: UsageSums
    others: UsageSums | None
    groups: int | None
    from_day: date
    until_day: date
    time_zone: str
    has_next_page: bool

    CONVERTERS = {
        "usage": lambda value: list_of(Usage.decode)(value),
        "totals": lambda value: UsageSums.decode(value),
        "others": lambda value: UsageSums.decode(value),
        "from_day": date.fromisoformat,
        "until_day": date.fromisoformat,
    }


class UsageSums(Model):
    turns: int
    turns_with_error: int
    turns_without_price: int
    unpriced: Sequence[UnpricedUses]
    turns_without_usage: int
    token_usage: TokenSums
    known_token_usage: TokenSums
    cost: Decimal | None
    currency: str | None
    known_costs: Sequence[CurrencyCost]
    cost_unknown_because: Sequence[
        Literal[
            "no_such_model",
            "no_price_then",
            "count_missing",
            "counts_contradict",
            "contract_lacks_rate",
            "several_currencies",
        ]
    ]
    completeness: Completeness
    reported_cost: float | None
    reported_cost_difference: float | None
    differing: DifferingTurns
    before: UsageBefore | None
    unit_costs: UnitCosts | None

    CONVERTERS = {
        "unpriced": lambda value: list_of(UnpricedUses.decode)(value),
        "token_usage": lambda value: TokenSums.decode(value),
        "known_token_usage": lambda value: TokenSums.decode(value),
        "cost": decimal,
        "known_costs": lambda value: list_of(CurrencyCost.decode)(value),
        "completeness": lambda value: Completeness.decode(value),
        "reported_cost": float,
        "reported_cost_difference": float,
        "differing": lambda value: DifferingTurns.decode(value),
        "before": lambda value: UsageBefore.decode(value),
        "unit_costs": lambda value: UnitCosts.decode(value),
    }


class UserList(Model):
    users: Sequence[User]
    end_cursor: UUID | None

    CONVERTERS = {
        "users": lambda value: list_of(User.decode)(value),
        "end_cursor": UUID,
    }


class User(Model):
    """A user; ``name`` is null once it was erased, or the user's key destroyed."""

    id: UUID
    name: str | None
    roles: Sequence[Role]
    is_disabled: bool
    is_erased: bool
    version: int
    created_at: datetime
    updated_at: datetime

    CONVERTERS = {
        "id": UUID,
        "created_at": datetime.fromisoformat,
        "updated_at": datetime.fromisoformat,
    }


class Variant(Model):
    """The rates of model calls that ask for something: ``{"service_tier": "flex"}``.

    They replace those of the same units, from ``since`` on. Of several variants for the
    same unit the first one counts.
    """

    when: Mapping[str, str]
    since: datetime | None
    hours: Sequence[Hours]
    rates: Mapping[str, Rate]

    CONVERTERS = {
        "since": datetime.fromisoformat,
        "hours": lambda value: list_of(Hours.decode)(value),
        "rates": lambda value: dict_of(Rate.decode)(value),
    }


class VariantBody(Model):
    when: Mapping[str, Any]
    since: datetime | None | NotGiven = NOT_GIVEN
    hours: Sequence[HoursBody] | NotGiven = NOT_GIVEN
    rates: Mapping[str, Any]

    CONVERTERS = {
        "since": datetime.fromisoformat,
        "hours": lambda value: list_of(HoursBody.decode)(value),
    }


class WholeEntry(Model):
    """An entry with everything that the log holds of it, exactly as stored.

    ``changes`` are the differences between the resource before and after the event, as
    in a comparison of the aggregate; null if its events can't be read.
    """

    position: int
    recorded_at: datetime
    actor_id: UUID | None
    actor: str | None
    token_id: UUID | None
    request_id: str | None
    trace_id: str | None
    address: str | None
    kind: str
    resource: AuditedResource
    version: int
    what: str
    changes: Sequence[Change] | None
    recorded: Mapping[str, Any]

    CONVERTERS = {
        "recorded_at": datetime.fromisoformat,
        "actor_id": UUID,
        "token_id": UUID,
        "resource": lambda value: AuditedResource.decode(value),
        "changes": lambda value: list_of(Change.decode)(value),
    }


class Window(Model):
    """The rates at some hours; they replace all others."""

    hours: Sequence[Hours]
    rates: Mapping[str, Rate]

    CONVERTERS = {
        "hours": lambda value: list_of(Hours.decode)(value),
        "rates": lambda value: dict_of(Rate.decode)(value),
    }


class WindowBody(Model):
    hours: Sequence[HoursBody]
    rates: Mapping[str, Any]

    CONVERTERS = {
        "hours": lambda value: list_of(HoursBody.decode)(value),
    }


__all__ = [
    "AcceptedDefinitions",
    "After",
    "Agent",
    "AgentGateway",
    "AgentList",
    "AgentRules",
    "AgentToken",
    "AgentTokenList",
    "AggregateDifference",
    "AnnotationSummary",
    "ApprovalList",
    "ApprovalResource",
    "ApprovalState",
    "ApprovalWithArguments",
    "AttemptOutcome",
    "AuditEntry",
    "AuditPage",
    "AuditedResource",
    "CallAttempt",
    "CallUsage",
    "CallableModels",
    "Cause",
    "Change",
    "ChangedCalls",
    "ChangedConnector",
    "ChangedName",
    "CheckpointKey",
    "ChosenBy",
    "Completeness",
    "ConnectionCredential",
    "ConnectionCredentialBody",
    "ConnectionList",
    "ConnectionResource",
    "ConnectionWithPresets",
    "Connector",
    "ConnectorDecisions",
    "ConnectorDifference",
    "ConnectorList",
    "ConnectorWithGrants",
    "Consistency",
    "ContractEntry",
    "ContractPrice",
    "ContractPrices",
    "ContractResource",
    "CostSummary",
    "CredentialResource",
    "CredentialReturns",
    "CurrencyCost",
    "DecisionsDifference",
    "Definitions",
    "DestroyedKey",
    "Dialect",
    "Difference",
    "DifferingTurns",
    "ExplainedModelCall",
    "ExplainedRoute",
    "ExplainedRule",
    "ExplainedToolCall",
    "Explanation",
    "ExportedLogs",
    "ExportedMetrics",
    "ExportedTraces",
    "Exposure",
    "FollowerHealth",
    "FoundUser",
    "Grant",
    "GrantResource",
    "GrantSpan",
    "Health",
    "HealthState",
    "HeldReason",
    "Hours",
    "HoursBody",
    "ImportCounts",
    "ImportOutcome",
    "ImportReport",
    "Inclusion",
    "IssuedAgentToken",
    "IssuedToken",
    "KnownContract",
    "KnownPart",
    "KnownPrice",
    "LabelFraction",
    "ListCost",
    "ListedApproval",
    "ListedConnector",
    "ListedSecret",
    "LogCheckHealth",
    "LogsPartialSuccess",
    "Me",
    "ModelCall",
    "ModelCallList",
    "ModelDifference",
    "ModelEntry",
    "ModelPrice",
    "ModelRoute",
    "ModelRouteBody",
    "NamesChange",
    "NextTurns",
    "Origin",
    "Pagination",
    "PartialSuccess",
    "PlannedGroup",
    "PlannedTarget",
    "PresetChange",
    "PresetGrant",
    "PresetGroup",
    "PresetGroupBody",
    "PresetList",
    "PresetResource",
    "PresetTarget",
    "PresetTargetBody",
    "PresetWithGrants",
    "PreviewedCalls",
    "PreviewedModelCalls",
    "PreviewedPreset",
    "PreviewedRouting",
    "PreviewedRules",
    "PreviewedTiers",
    "PriceChange",
    "PriceDoubt",
    "PriceHistory",
    "PriceResource",
    "PriceSource",
    "PriceValues",
    "PricedModel",
    "Provider",
    "ProviderEntry",
    "Rate",
    "RateBody",
    "Readiness",
    "RecordMode",
    "RemovedRules",
    "ReplacedRouting",
    "ReplacedRules",
    "ReplacedTierRegistry",
    "ReplayedAggregate",
    "ReportedCost",
    "RepricedUsage",
    "RepricingReport",
    "ReroutedCalls",
    "RestoredPreset",
    "RestoredRouting",
    "RestoredRules",
    "RestoredTiers",
    "RevokedAgentToken",
    "Role",
    "Route",
    "RouteProblem",
    "RoutedAgent",
    "RoutedName",
    "RoutedPreset",
    "RoutedTier",
    "RoutingAtPosition",
    "RoutingExplanation",
    "RoutingProblem",
    "RoutingTerms",
    "RuleOnConnector",
    "RulesOnConnector",
    "SecretList",
    "SecretResource",
    "SecretValue",
    "SecretVersion",
    "SecretWithVersions",
    "Session",
    "SessionAnnotation",
    "SessionList",
    "SessionResource",
    "SessionWithTurns",
    "ShadowingRule",
    "ShownTurn",
    "SkippedRow",
    "Span",
    "Stance",
    "Standing",
    "Structure",
    "StructureBody",
    "TargetProblem",
    "Tier",
    "TierBody",
    "TierChange",
    "TierRegistry",
    "Token",
    "TokenList",
    "TokenSums",
    "TokenUsage",
    "ToolCall",
    "ToolCallList",
    "ToolDecision",
    "ToolDefinition",
    "ToolDifference",
    "ToolRule",
    "ToolRuleWarning",
    "ToolsLeftOut",
    "TotalCost",
    "TraceStoreFigures",
    "TurnReceipt",
    "UnitCosts",
    "UnknownPart",
    "UnpricedUses",
    "Usage",
    "UsageBefore",
    "UsagePage",
    "UsageSums",
    "User",
    "UserList",
    "Variant",
    "VariantBody",
    "WholeEntry",
    "Window",
    "WindowBody",
]
