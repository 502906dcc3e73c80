"""The help of ``art`` and ``agent-runtime``, as a whole."""

import argparse
from collections.abc import Iterator

import pytest

from agent_runtime_client.art.help_texts import _SENTENCES
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


def test_the_help_speaks_of_arguments_and_not_of_requests() -> None:
    helps = "".join(
        " ".join(parser.format_help().split())
        for parser in parsers(build([*THINGS, *OTHERS]))
    )

    said = [*_SENTENCES, "`", "--dry-run false", "the body", "The body", "If-Match"]
    assert [each for each in said if each in helps] == []
    # Those that stand in place of others are shown.
    assert [each for each in _SENTENCES.values() if each not in helps] == []


def test_a_list_says_what_it_takes_and_ids_take_names() -> None:
    parser = build([*THINGS])
    shown = {
        each.prog: " ".join(each.format_help().split()) for each in parsers(parser)
    }

    assert "--state pending leaves those" in shown["art approvals list"]
    assert (
        "--agent-id AGENT only of this agent; by name or id"
        in (shown["art approvals list"])
    )
    assert "auditor, runtime; several with commas" in shown["art users create"]
    assert (
        "from FROM_TIME until before UNTIL_TIME"
        in (shown["art prices reprice-sessions"])
    )
    assert "is read from standard input" in shown["art secrets set"]
