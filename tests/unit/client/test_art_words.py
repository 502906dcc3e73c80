"""What ``art`` makes of its words, without a service."""

import argparse
import io
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent_runtime_client.art import arguments, output, waiting
from agent_runtime_client.art.arguments import parameters_of
from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.art.main import main
from agent_runtime_client.art.options import after_the_verb
from agent_runtime_client.art.parser import build
from agent_runtime_client.art.settings import DEFAULT_URL, settings_of
from agent_runtime_client.art.things import THINGS, methods_of, resource_of
from agent_runtime_client.art.yaml_text import yaml_text
from tests.support.project import ROOT
from tests.support.waiting import until_blocking

BEFORE = (
    ["--server", "prod", "users", "me", "-y"],
    ["--server=prod", "-y", "users", "me"],
    ["users", "--server", "prod", "-y", "me"],
    ["users", "me", "--server", "prod", "-y"],
)


@pytest.mark.parametrize("words", BEFORE, ids=" ".join)
def test_common_options_stand_anywhere(words: list[str]) -> None:
    moved = after_the_verb(words)
    options = build(moved).parse_args(moved)

    assert (options.thing, options.verb) == ("users", "me")
    assert (options.server, options.yes) == ("prod", True)


def test_what_stands_behind_two_dashes_stays_there() -> None:
    words = ["--server", "prod", "secrets", "reveal", "--", "--yes"]

    moved = after_the_verb(words)

    assert moved == ["secrets", "reveal", "--server", "prod", "--", "--yes"]
    assert build(moved).parse_args(moved).yes is False


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["agent", "list"], "'agent' is not known; did you mean agents"),
        (["agents", "lst"], "'lst' is not known; did you mean list"),
        (["agents", "list", "--output", "jason"], "did you mean json"),
        (["agents", "zzzzzz"], "'zzzzzz' is not known; it takes "),
    ],
)
def test_a_mistyped_word_is_answered_by_what_may_be_meant(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["agents"]])
def test_without_a_verb_the_help_is_shown(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert "usage: art" in capsys.readouterr().out


def test_the_help_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    shown = capsys.readouterr().out.split("Exit codes:")[1]
    documented = (ROOT / "docs/art.md").read_text("utf-8")
    table = documented.split("## Exit codes")[1]
    codes = re.findall(r"^\| (\d+) \|", table, re.MULTILINE)
    assert codes
    assert [code for code in codes if f"{code} " not in shown] == []


def test_the_usage_of_a_long_choice_is_short(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["prices", "set", "--help"])
    shown = capsys.readouterr().out
    assert "--currency CURRENCY" in shown
    assert len(shown.split("for every command")[0]) < 5_000


def test_ids_and_times_are_explained() -> None:
    for thing in THINGS:
        for _, name in methods_of(thing):
            for each in parameters_of(getattr(resource_of(thing), name)):
                parser = argparse.ArgumentParser()
                each.add_to(parser)
                if each.name.endswith("_id") and not each.is_secret:
                    assert "id of the" in parser.format_help(), each


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    environment = {
        "AGENT_RUNTIME_TOKEN_FILE": "",
        "AGENT_RUNTIME_SERVER": "",
        "AGENT_RUNTIME_TOKEN": "art_x",
        "XDG_CONFIG_HOME": "/does/not/exist",
    }

    found = settings_of(environment, server=None, token_file=None)

    assert found.url == DEFAULT_URL
    assert found.token is not None
    assert "default" in found.source


def test_a_folder_is_no_token_file_and_its_mode_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(UsageError) as refused:
        settings_of({}, server=DEFAULT_URL, token_file=str(tmp_path))
    assert "is a folder" in str(refused.value)
    assert "chmod" not in str(refused.value)


def test_an_end_of_input_instead_of_a_secret_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ended(_: str) -> str:
        raise EOFError

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(arguments, "getpass", ended)
    with pytest.raises(ValueError, match="no value was given"):
        arguments.read_secret("value")


ROWS = [{"id": "1", "name": "a", "cost": Decimal("0.10")}]


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("json", '[\n  {\n    "name": "a",\n    "id": "1"\n  }\n]\n'),
        ("jsonl", '{"name": "a", "id": "1"}\n'),
        ("csv", "a,1\n"),
        ("table", "a     1\n"),
        ("yaml", '- name: "a"\n  id: "1"\n'),
    ],
)
def test_columns_are_chosen_in_their_order_and_without_headers(
    form: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output.write(iter(ROWS), form, columns=["name", "id"], headers=False)

    assert capsys.readouterr().out == shown


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(output.UnknownColumnError, match=r"'nam'.*id, name, cost"):
        output.write(iter(ROWS), "json", columns=["nam"])


def test_yaml_keeps_every_digit(capsys: pytest.CaptureFixture[str]) -> None:
    output.write({"cost": Decimal("0.10"), "none": []}, "yaml")

    assert capsys.readouterr().out == "cost: 0.10\nnone: []\n"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abeNnoy_-:# 1"), inner),
    max_leaves=12,
)


@given(values)
def test_yaml_is_read_as_the_same_data(data: Any) -> None:
    assert yaml.safe_load(yaml_text(data, output.json_text)) == data


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_call_that_takes_long_shows_for_how_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(waiting, "SHOWN_AFTER_S", 0.0)

    with waiting.showing_wait("POST /api/slow"):
        until_blocking(lambda: "POST /api/slow: 0 s" in screen.getvalue())

    # The line is removed at the end.
    assert re.search(r"\r +\r$", screen.getvalue())


def test_a_call_shows_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting.showing_wait("POST /api/slow"):
        pass
    assert capsys.readouterr().err == ""
