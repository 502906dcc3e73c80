"""Which recordings there are: a client, and the instrumentations that observe it."""

from dataclasses import dataclass
from typing import Literal

ClientName = Literal[
    "openai",
    "anthropic",
    "langchain_openai",
    "langchain_anthropic",
    "litellm",
    "pydantic_ai",
    "by_hand",
]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A client of a model, observed by one instrumentation, or by several."""

    client: ClientName
    layers: tuple[str, ...]

    @property
    def name(self) -> str:
        return "-".join((self.client, *self.layers))

    @property
    def is_anthropic(self) -> bool:
        return self.client in ("anthropic", "langchain_anthropic", "by_hand")


# Instrumentations by the client that they observe.
OF_OPENAI = ("openinference_openai", "openllmetry_openai", "opentelemetry_openai")
OF_ANTHROPIC = (
    "anthropic",
    "openinference_anthropic",
    "openllmetry_anthropic",
    "opentelemetry_anthropic",
)
OF_LANGCHAIN = (
    "openinference_langchain",
    "openllmetry_langchain",
    "opentelemetry_langchain",
)
OF_LITELLM = ("litellm", "openinference_litellm")
OF_PYDANTIC_AI = ("pydantic_ai", "openinference_pydantic_ai")


# Two forms of one instrumentation, of which an agent has one.
ALTERNATIVES = ({"pydantic_ai", "openinference_pydantic_ai"},)


def _pairs(
    client: ClientName, outer: tuple[str, ...], inner: tuple[str, ...] = ()
) -> list[Scenario]:
    """Return one scenario for each layer, and for each pair of two layers."""
    single = [Scenario(client, (layer,)) for layer in outer]
    same = [
        Scenario(client, (first, second))
        for position, first in enumerate(outer)
        for second in outer[position + 1 :]
        if {first, second} not in ALTERNATIVES
    ]
    nested = [Scenario(client, (first, second)) for first in outer for second in inner]
    return single + same + nested


SCENARIOS = [
    *_pairs("openai", OF_OPENAI),
    *_pairs("anthropic", OF_ANTHROPIC),
    *_pairs("langchain_openai", OF_LANGCHAIN, OF_OPENAI),
    *_pairs("langchain_anthropic", OF_LANGCHAIN, OF_ANTHROPIC),
    *_pairs("litellm", OF_LITELLM, OF_OPENAI),
    *_pairs("pydantic_ai", OF_PYDANTIC_AI, OF_OPENAI),
    Scenario("by_hand", ("opentelemetry_util_genai",)),
]
