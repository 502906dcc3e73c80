"""A preset as the API shows it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal
from uuid import UUID

from typing_extensions import TypedDict

from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.terms import PresetTerms, texts_of


class PresetResource(PresetTerms):
    """Groups of targets in order, and how a call is tried on them."""

    id: UUID
    owner_id: UUID
    version: int
    created_at: datetime
    updated_at: datetime


class PresetGrantResource(TypedDict):
    """Whether a preset is granted to an agent; ``version`` is the preset's."""

    preset_id: UUID
    agent_id: UUID
    state: Literal["granted", "none"]
    version: int


class PresetChange(TypedDict):
    """A part of a preset that differs, in words."""

    part: str
    before: str
    after: str


def preset_resource(preset: ModelPreset) -> PresetResource:
    return {
        "id": preset.id,
        "owner_id": UUID(preset.owner_id),
        **preset.terms,
        "version": preset.version,
        "created_at": preset.created_on,
        "updated_at": preset.modified_on,
    }


def preset_grant_resource(preset: ModelPreset, agent_id: UUID) -> PresetGrantResource:
    return {
        "preset_id": preset.id,
        "agent_id": agent_id,
        "state": "granted" if preset.is_granted_to(agent_id) else "none",
        "version": preset.version,
    }


def changes_between(before: PresetTerms, after: PresetTerms) -> Iterator[PresetChange]:
    """Yield the parts that differ."""
    earlier, later = texts_of(before), texts_of(after)
    for part, text in later.items():
        if text != earlier[part]:
            yield {"part": part, "before": earlier[part], "after": text}
