"""The options that every command has, and how a verb is added with them."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

Run = Callable[[argparse.Namespace], Any]


def add_verb(
    verbs: Any, verb: str, summary: str, run: Run, *, details: str = ""
) -> argparse.ArgumentParser:
    """Add a verb with the options that every verb has."""
    sub: argparse.ArgumentParser = verbs.add_parser(
        verb,
        help=summary.removesuffix(".").replace("%", "%%"),
        description=f"{summary}\n{_flush(details)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(sub, run)
    return sub


def add_common(parser: argparse.ArgumentParser, run: Run) -> None:
    """Add the options that every command has."""
    parser.set_defaults(run=run)
    group = parser.add_argument_group("for every command")
    group.add_argument(
        "--server", metavar="URL|NAME", help="a URL, or a name from the configuration"
    )
    group.add_argument("--token-file", help="holds the token, with mode 0600")
    group.add_argument(
        *("-o", "--output"),
        choices=("table", "json", "jsonl", "csv", "yaml"),
        help="table on a terminal, otherwise json",
    )
    group.add_argument(
        "--columns", metavar="NAME,NAME", help="only these fields, in this order"
    )
    group.add_argument(
        "--no-headers", action="store_true", help="no names above tables and CSV"
    )
    group.add_argument(
        *("-y", "--yes"), action="store_true", help="send changes without asking"
    )
    group.add_argument(
        "--dry-run", action="store_true", help="show what would be sent or changed"
    )
    group.add_argument(
        "--timeout", type=float, default=30.0, metavar="SECONDS", help="of one attempt"
    )


def after_the_verb(argv: Sequence[str]) -> list[str]:
    """Move common options that stand before the verb to the end, where they belong."""
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
    while rest and len(words) < 2:  # noqa: PLR2004
        word = rest.pop(0)
        flag, has_value, _ = word.partition("=")
        if flag not in takes_value:
            words.append(word)
            continue
        moved.append(word)
        if takes_value[flag] and not has_value and rest:
            moved.append(rest.pop(0))
    end = rest.index("--") if "--" in rest else len(rest)
    return [*words, *rest[:end], *moved, *rest[end:]]


def _flush(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines()).rstrip()
