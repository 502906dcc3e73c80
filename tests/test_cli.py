"""What the command line says when it can't do what it is asked."""

import re
import socket
from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import agent_runtime_client
from service.cli.main import main
from service.cli.running import EXIT_CONFIG, EXIT_FAILED, print_error
from service.config import Config
from service.errors import ConfigError
from tests.harness.process import refusing_port

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("agent-runtime: ")
    return status, err.removeprefix("agent-runtime: ").rstrip("\n")


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
def test_what_is_no_url_of_a_database_is_named_and_not_quoted(
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


def test_a_port_that_is_taken_is_named_before_anything_is_started(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        status, words = refusal(
            capsys,
            *("serve", "--data-dir", str(folder), "--port", str(port)),
        )

    assert status == EXIT_FAILED
    assert words.startswith(f"can't listen on 127.0.0.1, port {port}: ")
    assert "in use" in words
    assert "choose another by --port" in words
    assert not folder.exists()


def test_a_host_that_is_no_address_of_this_machine_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # Of the addresses that are for documentation.
    where = ("--data-dir", str(tmp_path), "--host", "192.0.2.1", "--port", "0")

    status, words = refusal(capsys, "serve", *where)

    assert status == EXIT_FAILED
    assert words.startswith("can't listen on 192.0.2.1, port 0: ")


def test_a_database_that_is_away_is_said_without_its_password(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with refusing_port() as port:
        url = f"postgresql://somebody:hidden@127.0.0.1:{port}/nowhere"

        status, words = refusal(
            capsys, "migrate", "--data-dir", str(tmp_path), "--database-url", url
        )

    assert status == EXIT_FAILED
    assert "refused" in words
    assert "hidden" not in words


def test_a_login_role_without_rights_is_told_what_it_lacks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute("DROP TABLE public.agent_runtime_migration")
        owner.execute("CREATE ROLE guest_of_test_cli LOGIN")
    guest_url = make_conninfo(database_url, user="guest_of_test_cli")

    status, words = refusal(
        capsys, "migrate", "--data-dir", str(tmp_path), "--database-url", guest_url
    )

    assert (status, words) == (EXIT_FAILED, "permission denied for schema public")


def test_a_migration_of_another_version_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(
            "INSERT INTO public.agent_runtime_migration (name, sha256)"
            " VALUES ('9999_future.sql', '')"
        )

    status, words = refusal(
        capsys, "migrate", "--data-dir", str(tmp_path), "--database-url", database_url
    )

    assert status == EXIT_FAILED
    assert "9999_future.sql, which this version doesn't know" in words
