"""What a session of each client used, as the provider reported it, and its cost."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.instruments.instrumentations.provider import (
    ANSWERS,
    ANTHROPIC_MODEL,
    ANTHROPIC_USAGE,
    EMBEDDING_MODEL,
    EMBEDDING_TOKENS,
    FIRST,
    OPENAI_MODEL,
    OPENAI_USAGE,
    SECOND,
)
from tests.instruments.instrumentations.scenarios import Scenario

# Provider, and prices per million tokens: input, cache read, cache write, output.
PRICES: dict[str, tuple[str, dict[str, str]]] = {
    OPENAI_MODEL: (
        "openai",
        {"input": "0.15", "cache_read": "0.075", "output": "0.6"},
    ),
    EMBEDDING_MODEL: ("openai", {"input": "0.02", "output": "0"}),
    ANTHROPIC_MODEL: (
        "anthropic",
        {"input": "3", "cache_read": "0.3", "cache_creation": "3.75", "output": "15"},
    ),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a turn or of a session, as the API shows them."""

    prompt: int
    completion: int
    cache_read: int
    cache_creation: int
    cost: Decimal
    input: str
    output: str

    def differences(self, shown: Any) -> dict[str, Any]:
        """Return the figures that the API shows otherwise."""
        tokens = shown["token_usage"]
        found = {
            "prompt": tokens["prompt"],
            "completion": tokens["completion"],
            "cache_read": tokens["cache_read"] or 0,
            "cache_creation": tokens["cache_creation"] or 0,
            "cost": None if shown["cost"] is None else Decimal(str(shown["cost"])),
            "input": shown["input"],
            "output": shown["output"],
        }
        return {
            name: (value, getattr(self, name))
            for name, value in found.items()
            if value != getattr(self, name)
        }


def expected_turn(scenario: Scenario, question: str) -> Figures:
    """Return the figures of the turn that asks a question."""
    model = ANTHROPIC_MODEL if scenario.is_anthropic else OPENAI_MODEL
    usage = ANTHROPIC_USAGE if scenario.is_anthropic else OPENAI_USAGE
    prompt, read, written, output = usage[question]
    counts = Counter(
        input=prompt - read - written,
        cache_read=read,
        cache_creation=written,
        output=output,
    )
    cost = sum(
        (Decimal(PRICES[model][1][kind]) * n for kind, n in counts.items() if n),
        Decimal(0),
    )
    embedded = 0
    if scenario.client == "openai" and question == FIRST:
        embedded = EMBEDDING_TOKENS
        cost += Decimal(PRICES[EMBEDDING_MODEL][1]["input"]) * embedded
    return Figures(
        prompt=prompt + embedded,
        completion=output,
        cache_read=read,
        cache_creation=written,
        cost=cost / 1_000_000,
        input=question,
        output=ANSWERS[question],
    )


def expected_session(scenario: Scenario) -> Figures:
    """Return the figures of the whole session: both turns."""
    first, last = (expected_turn(scenario, each) for each in (FIRST, SECOND))
    return Figures(
        prompt=first.prompt + last.prompt,
        completion=first.completion + last.completion,
        cache_read=first.cache_read + last.cache_read,
        cache_creation=first.cache_creation + last.cache_creation,
        cost=first.cost + last.cost,
        input=first.input,
        output=last.output,
    )
