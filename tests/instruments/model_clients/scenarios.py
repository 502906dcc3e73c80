"""What a provider answers in each scenario, whatever the dialect.

A client names the scenario by a word of its prompt. This needs the standard library
alone: clients import it in an environment of their own.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

MODEL: Final = "fable-1"
PROMPT: Final = re.compile(r"scenario:([a-z_]+)")
# A red pixel.
PICTURE: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIA"
    "X8jx0gAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True)
class Call:
    """A call of one of the tools that the client offers."""

    id: str
    number: int


@dataclass(frozen=True)
class Usage:
    """Tokens; ``input`` is all of it, also what is read from and written to a cache."""

    input: int = 1200
    read: int = 0
    written: int = 0
    output: int = 80
    reasoning: int = 0


@dataclass(frozen=True)
class Answer:
    text: str = "Two are due today: naïve ✓."
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)


ONE: Final = (Call("call_1", 1),)
TWO: Final = (Call("call_1", 1), Call("call_2", 2))
ANSWERS: Final = {
    "text": Answer(),
    "tools": Answer(text="", calls=ONE),
    "parallel_tools": Answer(calls=TWO),
    "thinking": Answer(thinking="Both are of today.", usage=Usage(reasoning=30)),
    "thinking_tools": Answer(thinking="I look.", calls=ONE),
    "caches": Answer(usage=Usage(read=1000, written=50)),
    "images": Answer(text="It is red."),
    "refusal": Answer(text="", refusal="I can't help with that."),
    "limited": Answer(),
    "overloaded": Answer(),
    "stream_error": Answer(),
    "cut": Answer(),
    "stall": Answer(),
}
# What follows the results of tools.
LAST_ANSWER: Final = Answer(text="That is all.")
# The first request is refused, and the client asks again.
REFUSED_ONCE: Final = {"limited": 429, "overloaded": 529}
# The answer doesn't come to its end.
BROKEN: Final = ("stream_error", "cut", "stall")
# Of tools that change nothing, one that the client offers.
TOOLS: Final[dict[str, dict[str, Any]]] = {
    "add": {"first": 20, "second": 0},
    # Of Claude Code, of Codex, and of Claude's Agent SDK.
    "TaskList": {},
    "get_goal": {},
    "Read": {"file_path": "/nothing/here"},
}


def prompt(scenario: str) -> str:
    return f"What is due today? scenario:{scenario}"


def arguments(tool: str, number: int) -> dict[str, Any]:
    """Return the arguments of a call, of which no two are alike where that matters."""
    given = TOOLS[tool]
    return {**given, "second": number} if "second" in given else given
