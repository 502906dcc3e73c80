"""The events that a connector's tool definitions date from."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from projections.engine.authored_events import AuthoredEvent, Origin
from service.gateway.decision import decide_pinned
from service.gateway.definitions.aggregate import Standing, ToolDefinitions
from service.tool_rules.decision import Stance


@dataclass(slots=True)
class DefinitionsThen:
    """The definitions of a connector's tools, with the events that changed each."""

    definitions: ToolDefinitions | None = None
    first: Origin | None = None
    origins: dict[str, Origin] = field(default_factory=dict)

    def apply(self, authored: AuthoredEvent) -> None:
        event = authored.event
        match event:
            case ToolDefinitions.Created():
                self.first = authored.origin
            case ToolDefinitions.Observed(digests=digests, gone=gone):
                self.origins |= dict.fromkeys([*digests, *gone], authored.origin)
            case ToolDefinitions.Accepted(digests=digests):
                self.origins |= dict.fromkeys(digests, authored.origin)
            case _:
                return
        self.definitions = event.mutate(self.definitions)

    @property
    def tools(self) -> Iterable[str]:
        return self.definitions.observed if self.definitions else ()

    def origin(self, tool: str) -> Origin | None:
        return self.origins.get(tool, self.first)

    def effect(self, tool: str) -> tuple[bool, Standing | None]:
        """Return what of the definitions a decision about a tool depends on."""
        if self.definitions is None:
            return False, None
        return True, self.definitions.standing(tool)

    def decide(
        self, stance: Stance, matching: Mapping[str, Stance], tool: str
    ) -> Stance:
        """Return what is left of the matching rules' stance on a tool."""
        is_observed, standing = self.effect(tool)
        decided, _ = decide_pinned(
            stance, matching, tool, standing, is_observed=is_observed
        )
        return decided


NOT_OBSERVED: Final = DefinitionsThen()


async def definitions_then(events: AsyncIterator[AuthoredEvent]) -> DefinitionsThen:
    then = DefinitionsThen()
    async for authored in events:
        then.apply(authored)
    return then
