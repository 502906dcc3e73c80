"""Folders of sockets: where one is made, and which of others are removed."""

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from service.embedded_postgres.sockets import (
    FILE_NAMES,
    SOCKET_NAME,
    START_S_MAX,
    make_socket_folder,
    remove_socket_folder,
)


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary folder, with a path as short as a socket's must be."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def left_behind(temporary: Path, *names: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="agent-runtime-", dir=temporary))
    for name in names:
        (folder / name).touch()
    return folder


def bound(folder: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / SOCKET_NAME))
    return server


def listening(folder: Path) -> socket.socket:
    server = bound(folder)
    server.listen()
    return server


def age(path: Path) -> None:
    before = path.stat().st_mtime - 2 * START_S_MAX
    os.utime(path, (before, before))


def test_the_folder_is_made_in_the_temporary_one(temporary: Path) -> None:
    assert make_socket_folder().parent == temporary


@pytest.mark.parametrize("name", ["x" * 90, "a,b", 'a"b', "a b", "ü", "%20", "\udce9"])
def test_elsewhere_if_its_path_is_long_or_odd(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    odd = temporary / name
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))

    folder = make_socket_folder()
    folder.rmdir()

    assert folder.parent == Path("/tmp")  # noqa: S108


def test_folders_of_killed_services_are_removed(temporary: Path) -> None:
    killed = left_behind(temporary)
    listening(killed).close()
    age(killed / SOCKET_NAME)
    (killed / f"{SOCKET_NAME}.lock").touch()
    ended = left_behind(temporary)
    age(ended)

    made = make_socket_folder()

    assert list(temporary.iterdir()) == [made]


def test_folders_of_running_services_and_of_others_are_kept(temporary: Path) -> None:
    running = left_behind(temporary)
    starting = left_behind(temporary)
    others = left_behind(temporary, "notes")
    longer = temporary / "agent-runtime-test-12345678"
    longer.mkdir()
    for folder in (running, others, longer):
        age(folder)

    with closing(listening(running)):
        age(running / SOCKET_NAME)
        made = make_socket_folder()

        assert (running / SOCKET_NAME).exists()
    assert {*temporary.iterdir()} == {made, running, starting, others, longer}
    assert (others / "notes").exists()


def test_the_folder_of_a_server_that_does_not_listen_yet_is_kept(
    temporary: Path,
) -> None:
    """PostgreSQL binds a socket, sets its permissions, and then listens."""
    starting = left_behind(temporary)

    with closing(bound(starting)):
        make_socket_folder()

        assert (starting / SOCKET_NAME).exists()


def test_a_link_elsewhere_is_not_followed(temporary: Path) -> None:
    target = temporary / "target"
    target.mkdir()
    listening(target).close()
    age(target / SOCKET_NAME)
    (temporary / "agent-runtime-12345678").symlink_to(target)

    make_socket_folder()

    assert (target / SOCKET_NAME).exists()


def test_a_link_and_its_folder_are_removed(temporary: Path) -> None:
    folder = left_behind(temporary, *FILE_NAMES)
    (temporary / "socket").symlink_to(folder)

    remove_socket_folder(temporary / "socket")

    assert not list(temporary.iterdir())


def test_a_copied_link_to_a_running_service_is_removed_alone(temporary: Path) -> None:
    folder = left_behind(temporary)
    (temporary / "socket").symlink_to(folder)

    with closing(listening(folder)):
        remove_socket_folder(temporary / "socket")

        assert list(temporary.iterdir()) == [folder]
        assert (folder / SOCKET_NAME).exists()
