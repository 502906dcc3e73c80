"""What ``art`` makes of its words, without a service."""

import argparse
import re
from pathlib import Path

import pytest

from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.art.main import main
from agent_runtime_client.art.options import after_the_verb
from agent_runtime_client.art.parser import build
from agent_runtime_client.art.settings import DEFAULT_URL, settings_of
from tests.support.project import ROOT

BEFORE = (
    ["--server", "prod", "users", "me", "-y"],
    ["--server=prod", "-y", "users", "me"],
    ["users", "--server", "prod", "-y", "me"],
    ["users", "me", "--server", "prod", "-y"],
)


def parsed(words: list[str]) -> argparse.Namespace:
    parser = build(words)
    options: argparse.Namespace
    options = parser.parse_args(after_the_verb(words, parser.refuse))
    return options


@pytest.mark.parametrize("words", BEFORE, ids=" ".join)
def test_common_options_stand_anywhere(words: list[str]) -> None:
    options = parsed(words)

    assert (options.thing, options.verb) == ("users", "me")
    assert (options.server, options.yes) == ("prod", True)


def test_what_stands_behind_two_dashes_stays_there() -> None:
    words = ["--server", "prod", "secrets", "reveal", "--", "--yes"]

    options = parsed(words)

    assert (options.server, options.yes) == ("prod", False)
    assert vars(options)["parameter.name"] == "--yes"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["agent", "list"], "'agent' is not known; did you mean agents"),
        (["agents", "lst"], "'lst' is not known; did you mean list"),
        (["agents", "list", "--output", "jason"], "did you mean json"),
        (["agents", "list", "--outptu", "json"], "did you mean --output?"),
        (["--outptu", "json", "agents", "list"], "did you mean --output?"),
        (["--limit", "3", "agents", "list"], "--limit belongs behind the verb"),
        (["agents", "show", "x", "y"], "art agents show: it takes no y"),
        (["agents", "--yes"], "art agents: what should be done?"),
        (["usage", "list", "--group-by", "day,modl"], "did you mean model"),
        (["agents", "list", "--timeout", "0"], "'0' is not a number of seconds"),
        (["agents", "list", "--limit", "0"], "--limit takes at least 1"),
        (["users", "create", "caf\udce9"], "is not UTF-8 text"),
        (["agents", "zzzzzz"], "'zzzzzz' is not known; it takes "),
    ],
)
def test_a_mistyped_word_is_answered_by_what_may_be_meant(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)

    assert code == 2
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


def test_ctrl_c_ends_any_part_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agent_runtime_client.art.main.build", interrupted)
    assert main(["agents", "list"]) == 130
