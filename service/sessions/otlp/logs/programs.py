"""The table of agent programs that report by log events: what each event means.

The events become spans, whose attributes the program's row in ``instrumentations``
reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from service.sessions.otlp.attributes import Attributes, first_count, first_text

Role = Literal["prompt", "call", "answer", "failure"]
PROVIDER: Final = "gen_ai.provider.name"
# What the programs write where the user doesn't want texts to be told.
REDACTED: Final = frozenset({"<REDACTED>", "[REDACTED]"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProgram:
    """What the log events of a program mean, by their full names.

    ``scope`` is that of the spans that they become. ``turn`` is the attribute that all
    events of a turn have in common; without it, they belong to the newest prompt of
    their ``session``. ``inner`` is an attribute, and how it begins in events of agents
    inside of the turn: their answers aren't its output. ``counts`` are those that an
    event of a model call has: others of its name tell of its progress. ``providers``
    are names of the provider by the attribute ``provider``; those that it doesn't know
    are passed on.
    """

    scope: str
    roles: Mapping[str, Role]
    session: str
    counts: tuple[str, ...]
    turn: str | None = None
    inner: tuple[str, str] | None = None
    provider: str | None = None
    providers: Mapping[str, str] = field(default_factory=dict)
    default_provider: str

    def role_of(self, name: str, found: Attributes) -> Role | None:
        role = self.roles.get(name)
        if role == "call":
            return role if first_count(found, *self.counts) is not None else None
        # What an inner agent says or fails in isn't all of the turn.
        return None if self._is_inner(found) else role

    def _is_inner(self, found: Attributes) -> bool:
        if self.inner is None:
            return False
        name, begin = self.inner
        return (first_text(found, name) or "").startswith(begin)

    def provider_of(self, found: Attributes) -> str:
        named = first_text(found, self.provider) if self.provider else None
        return self.providers.get(named or "", named or self.default_provider)


CLAUDE_CODE: Final = AgentProgram(
    scope="com.anthropic.claude_code.events",
    roles={
        "claude_code.user_prompt": "prompt",
        "claude_code.api_request": "call",
        "claude_code.assistant_response": "answer",
        # After all retries.
        "claude_code.api_error": "failure",
    },
    session="session.id",
    counts=("input_tokens", "output_tokens"),
    turn="prompt.id",
    inner=("query_source", "agent:"),
    provider="anthropic.provider",
    providers={
        "firstParty": "anthropic",
        "bedrock": "aws.bedrock",
        "vertex": "gcp.vertex_ai",
    },
    default_provider="anthropic",
)
CODEX: Final = AgentProgram(
    scope="codex_otel.log_only",
    roles={"codex.user_prompt": "prompt", "codex.sse_event": "call"},
    session="conversation.id",
    counts=("input_token_count", "output_token_count"),
    default_provider="openai",
)
_BY_NAME: Final = {
    name: program for program in (CLAUDE_CODE, CODEX) for name in program.roles
}


def program_of(name: str) -> AgentProgram | None:
    """Return the program that an event is of, by its full name."""
    return _BY_NAME.get(name)
