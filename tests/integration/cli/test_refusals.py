"""What the command line says of a database, a port or a host that it can't use."""

import socket
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from service.cli.running import EXIT_FAILED
from tests.support.harness.process import refusing_port
from tests.support.refusal import refusal

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


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
    # An address of the network that is reserved for documentation.
    where = ("--data-dir", str(tmp_path), "--host", "192.0.2.1", "--port", "0")

    status, words = refusal(capsys, "serve", *where)

    assert status == EXIT_FAILED
    assert words.startswith("can't listen on 192.0.2.1, port 0: ")


def test_an_unreachable_database_is_named_without_its_password(
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


def test_an_error_names_the_rights_that_a_login_role_lacks(
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
