"""The allow-list of published events: an event that isn't on it stops the relay.

Withheld are sealed values and texts, and what could identify them. Token ids are keyed
hashes of tokens; ``messages.py`` replaces them.
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
        meaning="An agent was registered; its creator is its first manager.",
        fields=("name", "description", "manager_id"),
    ),
    PublicEvent(
        event=Agent.ManagerAppointed,
        meaning="The user now manages the agent.",
        fields=("user_id",),
    ),
    PublicEvent(
        event=Agent.ManagerDismissed,
        meaning="The user no longer manages the agent.",
        fields=("user_id",),
    ),
    PublicEvent(
        event=AuditReading.Created,
        meaning="Somebody read history, by one request, export or stream.",
        fields=("operation",),
        withheld=("asked",),
    ),
    PublicEvent(
        event=Connector.Created,
        meaning="A connector was registered, private to its owner.",
        fields=("owner_id", "name", "url", "description"),
    ),
    PublicEvent(
        event=Connector.MadePublic,
        meaning="The connector's definition is shared with everyone.",
        fields=("by", "since"),
    ),
    PublicEvent(
        event=Connector.MadePrivate,
        meaning="The connector is private again; existing grants remain.",
    ),
    PublicEvent(
        event=Connector.GrantOffered,
        meaning="One side has consented to a grant; the other has not yet.",
        fields=("agent_id", "side"),
    ),
    PublicEvent(
        event=Connector.GrantedToAgent,
        meaning="Both sides have consented; the agent holds the connector.",
        fields=("agent_id",),
    ),
    PublicEvent(
        event=Connector.GrantRevoked,
        meaning="A grant, or an offer of one, was revoked.",
        fields=("agent_id",),
    ),
    PublicEvent(
        event=Connector.Retired,
        meaning="The connector was retired permanently; no agent holds it.",
    ),
    PublicEvent(
        event=ToolRules.Created,
        meaning="An agent gets its first tool rules; the next event holds them.",
        fields=("agent_id",),
    ),
    PublicEvent(
        event=ToolRules.Replaced,
        meaning="These rules replace all earlier ones of the connectors, by id.",
        fields=("agent_id", "rules"),
    ),
    PublicEvent(
        event=ToolRules.Cleared,
        meaning="All tool rules of the agent were removed.",
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
        meaning="A deleted secret has a value again; version numbers continue.",
        fields=("version",),
        withheld=("sealed_id", "fingerprint"),
    ),
    PublicEvent(
        event=Secret.Overwritten,
        meaning="The secret has a new value.",
        fields=("version",),
        withheld=("sealed_id", "fingerprint"),
    ),
    PublicEvent(
        event=Secret.Restored,
        meaning="The value of an earlier version was restored, as a new version.",
        fields=("version", "restored_version"),
        withheld=("sealed_id", "fingerprint"),
    ),
    PublicEvent(
        event=Secret.Revealed,
        meaning="The owner read a value of the secret.",
        fields=("version",),
    ),
    PublicEvent(
        event=Secret.VersionsDestroyed,
        meaning="Older values of the secret were destroyed.",
        fields=("versions",),
        withheld=("sealed_ids",),
    ),
    PublicEvent(
        event=Secret.Deleted,
        meaning="The secret and all of its values were deleted.",
        withheld=("sealed_ids",),
    ),
    PublicEvent(
        event=ChatSession.Created,
        meaning="A session of a user with an agent has started.",
        fields=("session_id", "agent_id", "user_id", "started_at"),
    ),
    PublicEvent(
        event=ChatSession.TurnRecorded,
        meaning="A turn took place; a cost of null is unknown.",
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
        meaning="The turn with spans that arrived later; it replaces the earlier one.",
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
        meaning="The session has ended; late turns may still arrive.",
        fields=("ended_at",),
    ),
    PublicEvent(
        event=Provider.Created,
        meaning="A provider of models was registered.",
        fields=("key", "display_name"),
    ),
    PublicEvent(
        event=ModelPricing.Created,
        meaning="A model gets its first price; the next event holds it.",
        fields=("provider_id", "provider_key", "model"),
    ),
    PublicEvent(
        event=ModelPricing.PriceSet,
        meaning="A price is valid in a period; it ends the open price `closes`.",
        fields=("effective_from", "effective_until", "price", "source", "closes"),
    ),
    PublicEvent(
        event=ModelPricing.PriceEnded,
        meaning="A price ends earlier; one that ends at its start is never valid.",
        fields=("price_version", "effective_from", "effective_until"),
    ),
    PublicEvent(
        event=ModelPricing.PriceCorrected,
        meaning="The price of a period was wrong; this one replaces it.",
        fields=("corrects", "effective_from", "effective_until", "price", "source"),
    ),
    PublicEvent(
        event=ModelPricing.PriceAnnotated,
        meaning="The notes of a price have changed; the price has not.",
        fields=("price_version", "notes"),
    ),
    PublicEvent(
        event=User.Created,
        meaning="A user was created; the name is theirs permanently.",
        fields=("name",),
    ),
    PublicEvent(
        event=User.RoleGranted,
        meaning="The user was given a role.",
        fields=("role",),
    ),
    PublicEvent(
        event=User.RoleRevoked,
        meaning="A role was taken from the user.",
        fields=("role",),
    ),
    PublicEvent(
        event=User.KeyDestroyed,
        meaning="The user's key was destroyed, and all data sealed with it.",
    ),
    PublicEvent(
        event=Token.Created,
        meaning="A token was issued to the user; the subject is derived from it.",
        fields=("user_id", "label"),
    ),
    PublicEvent(
        event=Token.Revoked,
        meaning="The token was revoked.",
    ),
)

PUBLIC_EVENTS: Final[Mapping[str, PublicEvent]] = {
    entry.topic: entry for entry in _ENTRIES
}
