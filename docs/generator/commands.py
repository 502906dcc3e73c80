"""The page of all commands, from the parser of the command line."""

import argparse
from collections.abc import Iterator
from typing import Final

from docs.generator.markdown import code, entries
from service.cli.main import build_parser
from service.cli.settings import GENERAL, GROUPS

HEAD: Final = """\
# Commands

For operators: every command of the service, generated from the code by `make generated`.

Every command takes every [setting](settings.md); `agent-runtime COMMAND --help` explains its arguments and the settings that it uses.
All except `serve`, `migrate` and `restore` also work while a service runs its embedded database in the same data folder.
[Which of them migrate the database](upgrade.md#which-commands-migrate) is a matter of upgrades.
"""


def commands_page() -> str:
    rows = [
        (
            code(" ".join(["agent-runtime", name, *arguments(parser)])),
            _first_sentence(str(parser.description)),
        )
        for name, parser in commands(build_parser())
    ]
    return "\n".join([HEAD, *entries(rows), ""])


def commands(
    parser: argparse.ArgumentParser, prefix: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield each command that can be run, with its parser."""
    for action in parser._actions:  # noqa: SLF001 # argparse has no other list
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 # the same
            for name, child in action.choices.items():
                deeper = list(commands(child, f"{prefix}{name} "))
                yield from deeper or [(f"{prefix}{name}", child)]


def arguments(parser: argparse.ArgumentParser) -> list[str]:
    """Return the arguments of a command, without the options of all commands."""
    return [
        _argument(action)
        for group in parser._action_groups  # noqa: SLF001 # argparse has no other list
        if group.title not in (GENERAL, *GROUPS)
        for action in group._group_actions  # noqa: SLF001 # the same
        if action.dest != "help"
    ]


def _argument(action: argparse.Action) -> str:
    value = str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return value
    option = action.option_strings[0]
    if action.nargs != 0:
        option += f" {value}"
    return option if action.required else f"[{option}]"


def _first_sentence(text: str) -> str:
    first, point, _ = text.partition(". ")
    return first + point.rstrip()
