"""The options that every command has, and how a verb is added with them."""

import argparse
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import inf
from shutil import get_terminal_size
from typing import Any, Final

from agent_runtime_client.art.things import OTHERS

# What takes no verb.
BEFORE_ALL: Final = ("-h", "--help", "--version", "--")
COMMON: Final = "for every command"
FORMATS: Final = ("table", "json", "jsonl", "csv", "yaml")
Run = Callable[[argparse.Namespace], Any]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Leaves the options of every command out of the usage; they have a section."""

    def add_usage(
        self, usage: Any, actions: Iterable[argparse.Action], *others: Any, **more: Any
    ) -> None:
        own = [each for each in actions if _group_of(each) != COMMON]
        super().add_usage(usage, own, *others, **more)

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action.choices, dict):
            # argparse forgets that subcommands are indented.
            longest = max(map(len, action.choices), default=0)
            self._action_max_length = max(self._action_max_length, longest + 4)


def _group_of(action: argparse.Action) -> str | None:
    return getattr(getattr(action, "container", None), "title", None)


def add_verb(
    verbs: Any, verb: str, summary: str, run: Run, *, details: str = ""
) -> argparse.ArgumentParser:
    """Add a verb with the options that every verb has."""
    sub: argparse.ArgumentParser = verbs.add_parser(
        verb,
        help=summary.removesuffix(".").replace("%", "%%"),
        description="\n\n".join([summary, *map(_wrapped, details.split("\n\n"))]),
        formatter_class=Formatter,
    )
    add_common(sub, run)
    return sub


def add_common(parser: argparse.ArgumentParser, run: Run) -> None:
    """Add the options that every command has."""
    parser.set_defaults(run=run)
    group = parser.add_argument_group(COMMON)
    group.add_argument(
        "--server",
        metavar="URL|NAME",
        help="the service's URL, or its name in the configuration file",
    )
    group.add_argument(
        "--token-file", metavar="FILE", help="a file with the token, of mode 0600"
    )
    group.add_argument(
        *("-o", "--output"),
        choices=FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)}; by default table on a terminal, otherwise json",
    )
    group.add_argument(
        "--columns", metavar="NAME,NAME", help="only these fields, in this order"
    )
    group.add_argument(
        "--no-headers",
        action="store_true",
        help="leave out the names of fields in tables and CSV",
    )
    group.add_argument(
        *("-y", "--yes"), action="store_true", help="send changes without asking"
    )
    group.add_argument(
        "--dry-run",
        action="store_true",
        help="only show what would be sent or changed",
    )
    group.add_argument(
        "--timeout",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="how long one attempt may take; 30 by default",
    )


def _seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 < (seconds := float(text)) < inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")


def after_the_verb(argv: Sequence[str], refuse: Callable[[str], None]) -> list[str]:
    """Move common options that stand before the verb to the end, where they belong.

    Others belong to the verb: ``refuse`` is called with one that stands before it.
    """
    common = argparse.ArgumentParser(add_help=False)
    add_common(common, lambda _: None)
    takes_value = {
        flag: action.nargs != 0
        for action in common._actions  # noqa: SLF001 # argparse lists them nowhere else
        for flag in action.option_strings
    }
    words: list[str] = []
    moved: list[str] = []
    rest = list(argv)
    # The thing and its verb.
    while rest and len(words) < 2 and not OTHERS.keys() & words:  # noqa: PLR2004
        word = rest.pop(0)
        flag, has_value, _ = word.partition("=")
        if flag not in takes_value:
            if flag.startswith("-") and flag not in BEFORE_ALL:
                refuse(flag)
            words.append(word)
            continue
        moved.append(word)
        if takes_value[flag] and not has_value and rest:
            moved.append(rest.pop(0))
    end = rest.index("--") if "--" in rest else len(rest)
    return [*words, *rest[:end], *moved, *rest[end:]]


def _wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, get_terminal_size((80, 24)).columns - 2)
