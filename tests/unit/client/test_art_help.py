"""The help of ``art`` and ``agent-runtime``, as a whole."""

import argparse
from collections.abc import Iterator

import pytest

from agent_runtime_client.art.main import main
from agent_runtime_client.art.parser import build
from agent_runtime_client.art.things import OTHERS, THINGS
from service.cli.main import build_parser


def test_the_usage_of_a_long_choice_is_short(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["prices", "set", "--help"])
    shown = capsys.readouterr().out
    assert "--currency CURRENCY" in shown
    assert len(shown.split("for every command")[0]) < 5_000


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its subcommands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from parsers(each)


@pytest.mark.parametrize(
    "whole", [build([*THINGS, *OTHERS]), build_parser()], ids=["art", "agent-runtime"]
)
def test_every_argument_has_a_help_text(whole: argparse.ArgumentParser) -> None:
    without = [
        f"{parser.prog} {action.dest}"
        for parser in parsers(whole)
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]

    assert without == []


@pytest.mark.parametrize(
    "whole", [build([*THINGS, *OTHERS]), build_parser()], ids=["art", "agent-runtime"]
)
def test_a_usage_is_short(whole: argparse.ArgumentParser) -> None:
    long = {
        parser.prog: len(parser.format_usage())
        for parser in parsers(whole)
        if len(parser.format_usage()) > 1_000
    }

    assert long == {}
