"""What the scripted providers say that two turns used, for each case.

It needs the standard library alone: it runs in the environments of the
instrumentations.
"""

from dataclasses import dataclass
from typing import Final

QUESTIONS: Final = ("What is due?", "And tomorrow?")
ANSWERS: Final = ("Two are due today.", "Nothing is due tomorrow.")


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Case:
    """The usage of the plain turn and of the streamed one, and the tier of both."""

    turns: tuple[Used, Used]
    tier: str | None = None
    tools: bool = False


CASES: Final[dict[str, Case]] = {
    "plain": Case((Used(1200, 80), Used(1300, 20))),
    "cached": Case((Used(5000, 400, read=4000), Used(5200, 30, read=4600))),
    "long": Case((Used(260_000, 900, read=240_000), Used(281_000, 40, read=1_000))),
    "write_5m": Case(
        (Used(6000, 300, write_5m=5000), Used(6100, 30, read=5000, write_5m=600))
    ),
    "write_1h": Case(
        (
            Used(7000, 310, write_5m=1000, write_1h=4000),
            Used(7100, 35, read=5000, write_1h=700),
        )
    ),
    "reasoning": Case((Used(900, 700, reasoning=512), Used(1000, 300, reasoning=256))),
    "flex": Case((Used(5000, 400, read=2000), Used(5100, 60, read=4000)), tier="flex"),
    "priority": Case(
        (Used(5000, 400, read=2000), Used(5100, 60, read=4000)), tier="priority"
    ),
    "batch": Case((Used(4000, 400), Used(4100, 60)), tier="batch"),
    "audio": Case((Used(3000, 90, audio=2500), Used(3100, 25, audio=2600))),
    "search": Case((Used(9000, 400, searches=3), Used(9500, 70, searches=1))),
    "tools": Case((Used(2000, 90, read=1000), Used(2100, 25, read=1500)), tools=True),
}
