"""What the command line says when it can't do what it is asked."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import agent_runtime_client
from service.cli.main import main
from service.cli.running import EXIT_CONFIG, print_error
from service.config import Config
from service.errors import ConfigError
from tests.support.refusal import refusal

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


def test_a_setting_that_does_not_fit_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, words = refusal(capsys, "serve", "--port", "many")

    assert status == EXIT_CONFIG
    assert words.startswith("AGENT_RUNTIME_PORT: ")


def test_the_variables_of_the_client_are_left_to_the_client() -> None:
    package = Path(agent_runtime_client.__file__).parent
    sources = "".join(path.read_text("utf-8") for path in package.rglob("*.py"))
    names = set(re.findall(r"AGENT_RUNTIME_[A-Z_]*[A-Z]", sources))
    assert {"AGENT_RUNTIME_SERVER", "AGENT_RUNTIME_TOKEN"} < names

    config = Config.read({}, dict.fromkeys(names, "set") | {"AGENT_RUNTIME_PORT": "1"})

    assert config == Config.read({"port": 1}, {})


def test_no_other_variable_is_left_out() -> None:
    with pytest.raises(ConfigError, match="unknown settings: AGENT_RUNTIME_TOKENS"):
        Config.read({}, {"AGENT_RUNTIME_TOKENS": "set", "AGENT_RUNTIME_TOKEN": "set"})


@pytest.mark.parametrize("url", ["hidden", "postgresql://a:hidden@[::1/x"])
def test_a_malformed_database_url_is_refused_by_its_setting_alone(
    capsys: pytest.CaptureFixture[str], url: str
) -> None:
    status, words = refusal(capsys, "migrate", "--database-url", url)

    assert status == EXIT_CONFIG
    assert words == "AGENT_RUNTIME_DATABASE_URL: not a PostgreSQL URL"


def test_an_empty_setting_is_not_taken_for_the_default(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_RUNTIME_DATABASE_URL", "")
    monkeypatch.setenv("AGENT_RUNTIME_DATA_DIR", "")

    status, words = refusal(capsys, "migrate")

    assert status == EXIT_CONFIG
    assert words == (
        "AGENT_RUNTIME_DATA_DIR: must not be empty;"
        " AGENT_RUNTIME_DATABASE_URL: must not be empty"
    )


def test_a_data_folder_that_cannot_be_made_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()

    status, words = refusal(capsys, "migrate", "--data-dir", str(file / "data"))

    assert status == EXIT_CONFIG
    assert words == f"can't create the data folder {file / 'data'}: Not a directory"


@pytest.mark.parametrize("command", ["keys status", "doctor", "rebuild all"])
def test_a_folder_without_a_database_is_named_and_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    folder = tmp_path / "elsewhere"

    status, words = refusal(capsys, *command.split(), "--data-dir", str(folder))

    assert status == EXIT_CONFIG
    assert words.startswith(f"no database in {folder};")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("projection", "without", "said"),
    [
        ("merkle_tree", "gateway,proofs", "merkle_tree is left out by AGENT_RUNTIME_"),
        ("all", "gatway", "AGENT_RUNTIME_WITHOUT: gatway can't be left out;"),
    ],
)
def test_what_is_left_out_is_not_rebuilt(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    projection: str,
    without: str,
    said: str,
) -> None:
    where = ("--data-dir", str(tmp_path / "data"), "--without", without)

    status, words = refusal(capsys, "rebuild", projection, *where)

    assert status == EXIT_CONFIG
    assert words.startswith(said)


@pytest.mark.parametrize("kafka", ["broker", "broker:", ":9092", "a:1,b", "a:1;b:2"])
def test_a_broker_without_a_port_is_refused(
    capsys: pytest.CaptureFixture[str], kafka: str
) -> None:
    status, words = refusal(capsys, "serve", "--kafka", kafka)

    assert status == EXIT_CONFIG
    assert words == "AGENT_RUNTIME_KAFKA: not HOST:PORT, or several separated by commas"


@pytest.mark.parametrize("parts", ["", "apis", "api,", "api;followers"])
def test_parts_that_do_not_exist_are_refused(
    capsys: pytest.CaptureFixture[str], parts: str
) -> None:
    status, words = refusal(capsys, "serve", "--only", parts)

    assert status == EXIT_CONFIG
    assert words == (
        "AGENT_RUNTIME_ONLY: not api, followers or relay, or several separated by"
        " commas"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--reads-only"], "--reads-only is for processes with --only api"),
        (
            ["--read-database-url", "postgresql://standby/x"],
            "--read-database-url needs the --database-url of its primary",
        ),
        (
            ["--read-database-url", "postgresql://one,two/x"],
            "AGENT_RUNTIME_READ_DATABASE_URL: must name one server",
        ),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    options: Sequence[str],
    words: str,
) -> None:
    said = refusal(capsys, "serve", "--data-dir", str(tmp_path), *options)

    assert said == (EXIT_CONFIG, words)


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ("2020-01-01", "with a time zone, such as 2030-01-01T00:00:00Z"),
        ("tomorrow", "with a time zone, such as 2030-01-01T00:00:00Z"),
        ("2020-01-01T00:00:00Z", "is in the past"),
    ],
)
def test_a_time_at_which_no_token_can_expire_is_explained(
    capsys: pytest.CaptureFixture[str], time: str, words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["token", "issue", "ada", "--expires-at", time])

    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert words in said
    assert "_time" not in said


def test_the_second_line_of_an_error_of_libpq_is_readable(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_error("no connection\n\tIs the server running?\x1b[31m")

    assert capsys.readouterr().err == (
        "agent-runtime: no connection\n    Is the server running?\\u001b[31m\n"
    )
