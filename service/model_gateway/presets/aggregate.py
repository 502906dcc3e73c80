"""A preset: which connection and model answer a call that names it."""

from bisect import bisect_left
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.errors import ConflictError
from service.events import Id, Named, Published, differences
from service.identifiers import id_text
from service.model_gateway.presets.terms import PUBLIC, PresetTerms, texts_of

GRANTS_MAX = 2000


class ModelPreset(LoggedAggregate):
    """Groups of targets in order, on connections of the preset's owner.

    An agent calls it where its routing leads there, and while the preset is public or
    granted to the agent: so its owner and the agent's manager have both agreed.
    """

    class Created(LoggedAggregate.Created):
        """A preset was made.

        Emitted by ``POST /api/llm-router/presets``.
        """

        TOPIC = "model_preset.made"
        owner_id: Published[Id]
        terms: Published[PresetTerms]

        @property
        def name(self) -> str:
            return self.terms["name"]

        def sentence(self, named: Named) -> str:
            return (
                f"made the preset {self.terms['name']!r}, owned by "
                f"{named(self.owner_id)}: {texts_of(self.terms, named)['targets']}"
            )

    class Edited(LoggedAggregate.Event):
        """The preset has these terms from now on.

        Emitted by ``PUT /api/llm-router/presets/{preset_id}`` and ``POST
        /api/llm-router/presets/{preset_id}/restore``.
        """

        TOPIC = "model_preset.edited"
        terms: Published[PresetTerms]
        previous: Published[PresetTerms]

        @property
        def name(self) -> str:
            return self.terms["name"]

        def sentence(self, named: Named) -> str:
            before, after = texts_of(self.previous, named), texts_of(self.terms, named)
            changes = [(name, before[name], after[name]) for name in after]
            return f"edited the preset {self.subject(named)}: {differences(*changes)}"

        def apply(self, aggregate: "ModelPreset") -> None:
            aggregate.terms = self.terms

    class GrantedToAgent(LoggedAggregate.Event):
        """The agent may be routed to the preset, also while that is private.

        Emitted by ``PUT /api/llm-router/presets/{preset_id}/agents/{agent_id}``.
        """

        TOPIC = "model_preset.granted_to_agent"
        agent_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"granted the preset {self.subject(named)} to agent "
                f"{named(self.agent_id)}"
            )

        def apply(self, aggregate: "ModelPreset") -> None:
            aggregate.granted_to = sorted([*aggregate.granted_to, self.agent_id])

    class GrantRevoked(LoggedAggregate.Event):
        """The agent may no longer be routed to the preset, unless that is public.

        Emitted by ``DELETE /api/llm-router/presets/{preset_id}/agents/{agent_id}``.
        """

        TOPIC = "model_preset.grant_revoked"
        agent_id: Published[Id]

        def sentence(self, named: Named) -> str:
            return (
                f"took the preset {self.subject(named)} back from agent "
                f"{named(self.agent_id)}"
            )

        def apply(self, aggregate: "ModelPreset") -> None:
            aggregate.granted_to = [
                each for each in aggregate.granted_to if each != self.agent_id
            ]

    class Retired(LoggedAggregate.Event):
        """The preset was retired permanently: no agent is routed to it any more.

        Emitted by ``DELETE /api/llm-router/presets/{preset_id}``.
        """

        TOPIC = "model_preset.retired"

        def sentence(self, named: Named) -> str:
            return (
                f"retired the preset {self.subject(named)}: no agent is routed to it "
                "any more"
            )

        def apply(self, aggregate: "ModelPreset") -> None:
            aggregate.is_retired = True
            aggregate.granted_to = []

    TOPIC = "model_preset"

    @event(Created)
    def __init__(self, owner_id: str, terms: PresetTerms) -> None:
        self.owner_id = owner_id
        self.terms = terms
        self.granted_to: list[str] = []
        self.is_retired = False

    @property
    def is_public(self) -> bool:
        return self.terms["visibility"] == PUBLIC

    def is_owned_by(self, user_id: UUID) -> bool:
        return self.owner_id == str(user_id)

    def is_granted_to(self, agent_id: UUID) -> bool:
        agent = id_text(agent_id)
        index = bisect_left(self.granted_to, agent)
        return self.granted_to[index : index + 1] == [agent]

    def may_be_called_by(self, agent_id: UUID) -> bool:
        """Whether an agent that is routed here may call it."""
        return not self.is_retired and (self.is_public or self.is_granted_to(agent_id))

    def edit(self, terms: PresetTerms) -> bool:
        """Give the preset other terms; return whether any differs."""
        if terms == self.terms:
            return False
        self.trigger_event(self.Edited, terms=terms, previous=self.terms)
        return True

    def grant(self, agent_id: UUID) -> bool:
        """Let an agent be routed here; return whether it wasn't before.

        :raises ConflictError: the preset has ``GRANTS_MAX`` grants
        """
        if self.is_granted_to(agent_id):
            return False
        if len(self.granted_to) >= GRANTS_MAX:
            raise ConflictError(
                f"a preset has at most {GRANTS_MAX} grants; make it public, or revoke "
                "some",
                code="limit_reached",
            )
        self.trigger_event(self.GrantedToAgent, agent_id=str(agent_id))
        return True

    def revoke(self, agent_id: UUID) -> bool:
        """Take a grant back; return whether there was one."""
        if not self.is_granted_to(agent_id):
            return False
        self.trigger_event(self.GrantRevoked, agent_id=str(agent_id))
        return True

    def retire(self) -> bool:
        """End the preset for good; return whether it was in use."""
        if self.is_retired:
            return False
        self.trigger_event(self.Retired)
        return True
