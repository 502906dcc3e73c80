"""Connections, presets, tiers and routing for the tests, in memory."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any
from uuid import UUID

from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.connections.settings import ConnectionSettings
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.terms import PresetTarget, PresetTerms
from service.model_gateway.routing.aggregate import ModelRouting
from service.model_gateway.routing.terms import ModelRoute, RoutingTerms
from service.model_gateway.tiers.aggregate import ModelTiers
from service.principal import Principal
from service.secrets.aggregate import Secret

CREDENTIAL: Any = {"secret_name": "anthropic", "header": "x-api-key", "scheme": None}
ANTHROPIC, OPENAI = "anthropic_messages", "openai_chat"


def settings(**other: Any) -> ConnectionSettings:
    given: ConnectionSettings = {
        "name": "Anthropic",
        "base_url": "https://api.anthropic.example/v1",
        "dialects": [ANTHROPIC],
        "provider": "anthropic",
        "credential": None,
        "record_mode": "strict",
    }
    return {**given, **other}  # type: ignore[typeddict-item]  # the test's own words


def connection_of(owner: Principal, *dialects: str) -> ModelConnection:
    return ModelConnection(
        owner_id=str(owner.user_id),
        settings=settings(dialects=[*(dialects or [ANTHROPIC])]),
    )


def secret_of(owner: Principal, name: str = "anthropic") -> Secret:
    return Secret(
        owner_id=str(owner.user_id),
        name=name,
        sealed_id=str(UUID(int=9)),
        fingerprint="f1",
    )


def target(connection: ModelConnection | UUID, model: str = "swift-1") -> PresetTarget:
    known = connection if isinstance(connection, UUID) else connection.id
    return {
        "connection_id": str(known),
        "model": model,
        "weight": 1,
        "context_window": None,
    }


def terms(*groups: Sequence[PresetTarget], **other: Any) -> PresetTerms:
    given: PresetTerms = {
        "name": "Coding",
        "description": "",
        "visibility": "private",
        "groups": [{"targets": [*each]} for each in groups],
        "attempts": 2,
        "total_timeout_s": 600,
        "first_byte_timeout_s": 60,
        "idle_timeout_s": 60,
        "sticky_s": 3600,
        "fall_back_on": [429, 500],
    }
    return {**given, **other}  # type: ignore[typeddict-item]  # the test's own words


def preset_of(
    owner: Principal,
    connection: ModelConnection | None = None,
    *,
    public: bool = False,
    granted_to: Sequence[UUID] = (),
) -> ModelPreset:
    said = terms(
        [target(connection or UUID(int=7))],
        visibility="public" if public else "private",
    )
    preset = ModelPreset(owner_id=str(owner.user_id), terms=deepcopy(said))
    for agent_id in granted_to:
        preset.grant(agent_id)
    return preset


def tiers_of(**presets: ModelPreset | UUID) -> ModelTiers:
    registry = ModelTiers()
    registry.replace(
        {
            tier: str(each if isinstance(each, UUID) else each.id)
            for tier, each in presets.items()
        }
    )
    return registry


def to_preset(model: str, preset: ModelPreset | UUID) -> ModelRoute:
    known = preset if isinstance(preset, UUID) else preset.id
    return {"model": model, "preset_id": str(known), "tier": None}


def to_tier(model: str, tier: str) -> ModelRoute:
    return {"model": model, "preset_id": None, "tier": tier}


def routed(*routes: ModelRoute, **tiers: ModelPreset | UUID) -> RoutingTerms:
    return {
        "routes": [*routes],
        "tiers": {
            tier: str(each if isinstance(each, UUID) else each.id)
            for tier, each in sorted(tiers.items())
        },
    }


def routing_of(agent_id: UUID, *routes: ModelRoute, **tiers: Any) -> ModelRouting:
    routing = ModelRouting(agent_id=str(agent_id))
    routing.replace(routed(*routes, **tiers))
    return routing
