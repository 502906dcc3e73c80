"""The help of the service's commands."""

import pytest

from docs.generator.commands import commands
from service.cli.main import build_parser
from service.cli.settings import grouped_settings
from service.config import NO_OPTION
from tests.support.refusal import refusal

HELP = {name: parser.format_help() for name, parser in commands(build_parser())}


def test_serve_explains_every_setting() -> None:
    names = {name for group in grouped_settings().values() for name in group}
    flags = {"--" + name.replace("_", "-") for name in names - set(NO_OPTION)}

    assert [flag for flag in sorted(flags) if f"  {flag}" not in HELP["serve"]] == []


@pytest.mark.parametrize("name", sorted(HELP.keys() - {"serve"}))
def test_other_commands_explain_only_what_they_use(name: str) -> None:
    assert "--data-dir" in HELP[name]
    assert "--gateway-hold-s" not in HELP[name]
    assert ("--kafka-topic" in HELP[name]) == name.startswith("topic ")
    assert "'agent-runtime serve --help'" in " ".join(HELP[name].split())


def test_other_commands_take_every_setting(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, words = refusal(capsys, "migrate", "--gateway-hold-s", "many")

    assert words.startswith("AGENT_RUNTIME_GATEWAY_HOLD_S: ")
