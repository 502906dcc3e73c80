"""Which recordings there are: a client, what observes it, and the cases."""

from dataclasses import dataclass
from typing import Final

CHAT: Final = ("plain", "cached", "reasoning", "flex", "priority", "audio")
RESPONSES: Final = ("plain", "cached", "reasoning", "flex", "priority", "search")
ANTHROPIC: Final = (
    *("plain", "cached", "long", "write_5m", "write_1h", "batch", "search"),
)
GOOGLE: Final = ("plain", "cached", "long", "reasoning", "audio", "search")
BEDROCK: Final = ("plain", "cached", "write_5m")
AGENTS: Final = ("plain", "tools", "flex")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A client observed by some layers; each case is a session of two turns."""

    client: str
    layers: tuple[str, ...]
    cases: tuple[str, ...]
    environment: str = "python"

    @property
    def name(self) -> str:
        return "-".join((self.client, *self.layers))


def _each(
    client: str, layers: tuple[str, ...], cases: tuple[str, ...]
) -> list[Scenario]:
    return [Scenario(client, tuple(each.split("+")), cases) for each in layers]


_OPENAI: Final = (
    "openinference_openai",
    "openllmetry_openai",
    "opentelemetry_openai",
    "logfire_openai",
)
_LANGCHAIN: Final = (
    "openinference_langchain",
    "openllmetry_langchain",
    "opentelemetry_langchain",
)
_LITELLM: Final = ("litellm", "openinference_litellm")
_PYDANTIC_AI: Final = ("pydantic_ai", "openinference_pydantic_ai")
_GOOGLE: Final = (
    "openinference_google",
    "openllmetry_google",
    "opentelemetry_google",
)

SCENARIOS: Final = [
    *_each("openai", _OPENAI, CHAT),
    *_each("responses", _OPENAI, RESPONSES),
    *_each(
        "anthropic",
        (
            "anthropic",
            "openinference_anthropic",
            "openinference_anthropic+anthropic",
            "openllmetry_anthropic",
            "opentelemetry_anthropic",
            "logfire_anthropic",
            "logfire_anthropic+anthropic",
        ),
        ANTHROPIC,
    ),
    *_each("google", _GOOGLE, GOOGLE),
    *_each("bedrock", ("openinference_bedrock", "openllmetry_bedrock"), BEDROCK),
    *_each("langchain_openai", _LANGCHAIN, CHAT[:-1]),
    *_each("langchain_responses", _LANGCHAIN, RESPONSES),
    *_each("langchain_anthropic", _LANGCHAIN, ANTHROPIC),
    *_each("langchain_google", _LANGCHAIN, GOOGLE[:-2]),
    *_each("langgraph", _LANGCHAIN, AGENTS),
    *_each(
        "agents_responses",
        ("openinference_agents", "openllmetry_agents"),
        AGENTS,
    ),
    *_each("agents_chat", ("openinference_agents", "openllmetry_agents"), AGENTS),
    *_each("litellm_openai", _LITELLM, CHAT),
    *_each("litellm_anthropic", _LITELLM, ANTHROPIC),
    *_each("litellm_google", _LITELLM, GOOGLE[:-1]),
    *_each("litellm_bedrock", _LITELLM, BEDROCK),
    *_each("pydantic_ai_openai", _PYDANTIC_AI, CHAT[:-1]),
    *_each("pydantic_ai_responses", _PYDANTIC_AI, RESPONSES),
    *_each("pydantic_ai_anthropic", _PYDANTIC_AI, ANTHROPIC),
    *_each("pydantic_ai_google", _PYDANTIC_AI, GOOGLE[:-1]),
    *_each("pydantic_ai_bedrock", _PYDANTIC_AI, BEDROCK),
    Scenario("openai", ("logfire_openai", "scrubbed"), ("plain",)),
    Scenario("google", ("openinference_google", "v3"), GOOGLE, "google3"),
]
