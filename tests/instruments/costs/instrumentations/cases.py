"""What the scripted providers say that two turns used, for each case.

It needs the standard library alone: it runs in the environments of the
instrumentations.
"""

from dataclasses import dataclass
from typing import Final

QUESTIONS: Final = ("What is due?", "And tomorrow?")
ANSWERS: Final = ("Two are due today.", "Nothing is due tomorrow.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """The usage of one answer; ``input`` and ``output`` include their parts."""

    input: int
    output: int
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    reasoning: int = 0
    audio: int = 0
    searches: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The usage of the plain turn and of the streamed one, and the tier of both."""

    turns: tuple[Used, Used]
    tier: str | None = None
    tools: bool = False


CASES: Final[dict[str, Case]] = {
    "plain": Case(turns=(Used(input=1200, output=80), Used(input=1300, output=20))),
    "cached": Case(
        turns=(
            Used(input=5000, output=400, read=4000),
            Used(input=5200, output=30, read=4600),
        )
    ),
    "long": Case(
        turns=(
            Used(input=260_000, output=900, read=240_000),
            Used(input=281_000, output=40, read=1_000),
        )
    ),
    "write_5m": Case(
        turns=(
            Used(input=6000, output=300, write_5m=5000),
            Used(input=6100, output=30, read=5000, write_5m=600),
        )
    ),
    "write_1h": Case(
        turns=(
            Used(input=7000, output=310, write_5m=1000, write_1h=4000),
            Used(input=7100, output=35, read=5000, write_1h=700),
        )
    ),
    "reasoning": Case(
        turns=(
            Used(input=900, output=700, reasoning=512),
            Used(input=1000, output=300, reasoning=256),
        )
    ),
    "flex": Case(
        turns=(
            Used(input=5000, output=400, read=2000),
            Used(input=5100, output=60, read=4000),
        ),
        tier="flex",
    ),
    "priority": Case(
        turns=(
            Used(input=5000, output=400, read=2000),
            Used(input=5100, output=60, read=4000),
        ),
        tier="priority",
    ),
    "batch": Case(
        turns=(Used(input=4000, output=400), Used(input=4100, output=60)),
        tier="batch",
    ),
    "audio": Case(
        turns=(
            Used(input=3000, output=90, audio=2500),
            Used(input=3100, output=25, audio=2600),
        )
    ),
    "search": Case(
        turns=(
            Used(input=9000, output=400, searches=3),
            Used(input=9500, output=70, searches=1),
        )
    ),
    "tools": Case(
        turns=(
            Used(input=2000, output=90, read=1000),
            Used(input=2100, output=25, read=1500),
        ),
        tools=True,
    ),
}
