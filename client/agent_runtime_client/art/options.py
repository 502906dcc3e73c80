"""The options that every command has, and how a verb is added with them."""

import argparse
from collections.abc import Callable
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
        "--output",
        choices=("table", "json", "jsonl", "csv"),
        help="table on a terminal, otherwise json",
    )
    group.add_argument("--yes", action="store_true", help="send changes without asking")
    group.add_argument(
        "--dry-run", action="store_true", help="show what would be sent or changed"
    )
    group.add_argument(
        "--timeout", type=float, default=30.0, metavar="SECONDS", help="of one attempt"
    )


def _flush(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines()).rstrip()
