"""The table of agent programs that report by log events: what each event means.

The events become spans, whose attributes the program's row in ``instrumentations``
reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from service.sessions.otlp.agent_programs import MAIN
from service.sessions.otlp.attributes import (
    Attributes,
    begins_with,
    first_count,
    first_text,
)

Role = Literal["prompt", "call", "answer", "failure"]
PROVIDER: Final = "gen_ai.provider.name"
# What the programs write where the user doesn't want texts to be told.
REDACTED: Final = frozenset({"<REDACTED>", "[REDACTED]"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProgram:
    """What the log events of a program mean, by their full names.

    ``scope`` is that of the spans that they become. ``turn`` is the attribute that all
    events of a turn have in common; without it, they belong to the newest prompt of
    their ``session``. ``main`` is an attribute, and how it begins in events of the turn
    itself: what the program answers beside it isn't its output. ``counts`` are those
    that an event of a model call has, where others of its name tell of its progress.
    ``providers``
    are names of the provider by the attribute ``provider``; those that it doesn't know
    are passed on.
    """

    scope: str
    roles: Mapping[str, Role]
    session: str
    counts: tuple[str, ...] = ()
    turn: str | None = None
    main: tuple[str, tuple[str, ...]] | None = None
    provider: str | None = None
    providers: Mapping[str, str] = field(default_factory=dict)
    default_provider: str

    def role_of(self, name: str, found: Attributes) -> Role | None:
        role = self.roles.get(name)
        if role == "call":
            is_progress = self.counts and first_count(found, *self.counts) is None
            return None if is_progress else role
        is_main = self.main is None or begins_with(found, *self.main)
        return role if is_main else None

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
    turn="prompt.id",
    main=MAIN,
    provider="anthropic.provider",
    providers={
        "firstParty": "anthropic",
        "bedrock": "aws.bedrock",
        "mantle": "aws.bedrock",
        "vertex": "gcp.vertex_ai",
        "foundry": "azure.ai.inference",
        "anthropicAws": "anthropic",
        "anthropicGoogleCloud": "anthropic",
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
