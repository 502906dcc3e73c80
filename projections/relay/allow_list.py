"""Everything that is published: an event that isn't here stops the relay.

Withheld are what secrets and texts are sealed in or could be recognised by. Ids of
tokens are keyed hashes of them; what a message names instead is in ``messages.py``.
"""

from collections.abc import Mapping
from typing import Final

from projections.relay.public_event import PublicEvent
from service.agents.aggregate import Agent
from service.audit.aggregate import AuditReading
from service.connectors.aggregate import Connector
from service.price_catalog.aggregate import ModelPricing, Provider
from service.secrets.aggregate import Secret
from service.sessions.aggregate import ChatSession
from service.tool_rules.aggregate import ToolRules
from service.users.aggregate import Token, User

_ENTRIES: Final = (
    PublicEvent(
        event=Agent.Created,
        meaning="An agent exists; who registered it is its first manager.",
        fields=("name", "description", "manager_id"),
    ),
    PublicEvent(
        event=Agent.ManagerAppointed,
        meaning="A user has full management of the agent from now on.",
        fields=("user_id",),
    ),
    PublicEvent(
        event=Agent.ManagerDismissed,
        meaning="A user has full management of the agent no more.",
        fields=("user_id",),
    ),
    PublicEvent(
        event=AuditReading.Created,
        meaning="Somebody reads history, by one request, export or stream.",
        fields=("operation",),
        withheld=("asked",),
    ),
    PublicEvent(
        event=Connector.Created,
        meaning="A connector exists, private to its owner.",
        fields=("owner_id", "name", "url", "description"),
    ),
    PublicEvent(
        event=Connector.MadePublic,
        meaning="The connector's definition is shared with everyone.",
        fields=("by", "since"),
    ),
    PublicEvent(
        event=Connector.MadePrivate,
        meaning="The connector is shared no more; grants that were made stay.",
    ),
    PublicEvent(
        event=Connector.GrantOffered,
        meaning="One side has consented to a grant; the other one has not yet.",
        fields=("agent_id", "side"),
    ),
    PublicEvent(
        event=Connector.GrantedToAgent,
        meaning="Both sides have consented; the agent holds the connector.",
        fields=("agent_id",),
    ),
    PublicEvent(
        event=Connector.GrantRevoked,
        meaning="A grant, or an offer of one, was taken back.",
        fields=("agent_id",),
    ),
    PublicEvent(
        event=Connector.Retired,
        meaning="The connector has ended for good; no agent holds it.",
    ),
    PublicEvent(
        event=ToolRules.Created,
        meaning="An agent gets its first tool rules; the next event has them.",
        fields=("agent_id",),
    ),
    PublicEvent(
        event=ToolRules.Replaced,
        meaning="Some connectors, by id, have these rules and no others from now on.",
        fields=("agent_id", "rules"),
    ),
    PublicEvent(
        event=ToolRules.Cleared,
        meaning="The agent has no tool rules any more.",
        fields=("agent_id",),
    ),
    PublicEvent(
        event=Secret.Created,
        meaning="A user's secret of this name has its first value, version 1.",
        fields=("owner_id", "name"),
        withheld=("sealed_id", "fingerprint"),
    ),
    PublicEvent(
        event=Secret.CreatedAgain,
        meaning="A deleted secret has a value again; versions are numbered on.",
        fields=("version",),
        withheld=("sealed_id", "fingerprint"),
    ),
    PublicEvent(
        event=Secret.Overwritten,
        meaning="The secret has another value.",
        fields=("version",),
        withheld=("sealed_id", "fingerprint"),
    ),
    PublicEvent(
        event=Secret.Restored,
        meaning="The secret has the value of an earlier version, as a new one.",
        fields=("version", "restored_version"),
        withheld=("sealed_id", "fingerprint"),
    ),
    PublicEvent(
        event=Secret.Revealed,
        meaning="A value of the secret was read by its owner.",
        fields=("version",),
    ),
    PublicEvent(
        event=Secret.VersionsDestroyed,
        meaning="Older values of the secret were given up.",
        fields=("versions",),
        withheld=("sealed_ids",),
    ),
    PublicEvent(
        event=Secret.Deleted,
        meaning="The secret and all of its values were given up.",
        withheld=("sealed_ids",),
    ),
    PublicEvent(
        event=ChatSession.Created,
        meaning="A session of a user with an agent exists.",
        fields=("session_id", "agent_id", "user_id", "started_at"),
    ),
    PublicEvent(
        event=ChatSession.TurnRecorded,
        meaning="A turn took place; a cost of null is an unknown one.",
        fields=(
            *("agent_id", "user_id", "turn_id", "trace_id"),
            *("started_at", "ended_at", "latency_us", "provider", "model"),
            *("prompt_tokens", "completion_tokens"),
            *("cache_read_tokens", "cache_creation_tokens"),
            *("cost", "currency", "price_id", "is_error"),
            *("input_truncated", "output_truncated", "spans", "shares"),
        ),
        withheld=("sealed_error", "sealed_input", "sealed_output"),
    ),
    PublicEvent(
        event=ChatSession.TurnAmended,
        meaning="A turn as it is with spans that came later: it replaces the turn.",
        fields=(
            *("agent_id", "user_id", "turn_id", "trace_id"),
            *("started_at", "ended_at", "latency_us", "provider", "model"),
            *("prompt_tokens", "completion_tokens"),
            *("cache_read_tokens", "cache_creation_tokens"),
            *("cost", "currency", "price_id", "is_error"),
            *("input_truncated", "output_truncated", "spans", "shares"),
        ),
        withheld=("sealed_error", "sealed_input", "sealed_output"),
    ),
    PublicEvent(
        event=ChatSession.Ended,
        meaning="The session is over; late turns may still come.",
        fields=("ended_at",),
    ),
    PublicEvent(
        event=Provider.Created,
        meaning="A provider of models is known.",
        fields=("key", "display_name"),
    ),
    PublicEvent(
        event=ModelPricing.Created,
        meaning="A model gets its first price; the next event has it.",
        fields=("provider_id", "provider_key", "model"),
    ),
    PublicEvent(
        event=ModelPricing.PriceSet,
        meaning="A price holds in a period; the open price that `closes` names ends.",
        fields=("effective_from", "effective_until", "price", "source", "closes"),
    ),
    PublicEvent(
        event=ModelPricing.PriceEnded,
        meaning="A price ends earlier than was said; at its start, it never holds.",
        fields=("price_version", "effective_from", "effective_until"),
    ),
    PublicEvent(
        event=ModelPricing.PriceCorrected,
        meaning="What was said of a period was wrong; this holds for it instead.",
        fields=("corrects", "effective_from", "effective_until", "price", "source"),
    ),
    PublicEvent(
        event=ModelPricing.PriceAnnotated,
        meaning="Other words stand beside the same price.",
        fields=("price_version", "notes"),
    ),
    PublicEvent(
        event=User.Created,
        meaning="A user exists; the name is theirs for good.",
        fields=("name",),
    ),
    PublicEvent(
        event=User.RoleGranted,
        meaning="The user has a role from now on.",
        fields=("role",),
    ),
    PublicEvent(
        event=User.RoleRevoked,
        meaning="The user has a role no more.",
        fields=("role",),
    ),
    PublicEvent(
        event=User.KeyDestroyed,
        meaning="Everything sealed for the user was given up for good.",
    ),
    PublicEvent(
        event=Token.Created,
        meaning="A token proves this user; the subject only stands for the token.",
        fields=("user_id", "label"),
    ),
    PublicEvent(
        event=Token.Revoked,
        meaning="A token proves nobody any more.",
    ),
)

PUBLIC_EVENTS: Final[Mapping[str, PublicEvent]] = {
    entry.topic: entry for entry in _ENTRIES
}
