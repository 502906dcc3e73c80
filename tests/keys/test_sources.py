"""Root keys from a variable, a file, a program, or the data folder."""

import base64
import shlex
import sys
from pathlib import Path

import pytest

from service.config import Config
from service.errors import ConfigError
from service.keys.root_key import RootKeyUnavailableError
from service.keys.root_key_source import outside_root_keys

KEY = base64.b64encode(bytes(32)).decode()
PROGRAM = shlex.join([sys.executable, str(Path(__file__).with_name("key_program.py"))])


def config(**environment: str) -> Config:
    return Config.read(
        {}, {f"AGENT_RUNTIME_{name}": value for name, value in environment.items()}
    )


def key_file(folder: Path, *, mode: int = 0o600) -> str:
    path = folder / "root-keys"
    path.write_text(f"new:{KEY}\nold:{KEY}\n")
    path.chmod(mode)
    return str(path)


async def test_without_a_setting_there_are_none_from_outside() -> None:
    assert await outside_root_keys(config()) is None


async def test_keys_of_a_variable() -> None:
    root = await outside_root_keys(config(ROOT_KEYS=f"new:{KEY},old:{KEY}"))
    assert root is not None
    assert (root.primary_id, root.key_ids) == ("new", {"new", "old"})


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440])
async def test_keys_of_a_file_such_as_a_credential_of_systemd(
    tmp_path: Path, mode: int
) -> None:
    root = await outside_root_keys(config(ROOT_KEYS_FILE=key_file(tmp_path, mode=mode)))
    assert root is not None
    assert root.primary_id == "new"


@pytest.mark.processes
async def test_keys_of_a_program() -> None:
    root = await outside_root_keys(config(ROOT_KEYS_PROGRAM=f"{PROGRAM} honest"))
    assert root is not None
    assert root.primary_id == "kms:7"


async def test_two_sources_are_refused(tmp_path: Path) -> None:
    both = config(ROOT_KEYS=f"new:{KEY}", ROOT_KEYS_FILE=key_file(tmp_path))
    with pytest.raises(ConfigError, match="not from several"):
        await outside_root_keys(both)


@pytest.mark.processes
async def test_unusable_sources_are_refused_without_showing_a_key(
    tmp_path: Path,
) -> None:
    for setting in (
        config(ROOT_KEYS_FILE=str(tmp_path / "missing")),
        config(ROOT_KEYS_FILE=key_file(tmp_path, mode=0o644)),
        config(ROOT_KEYS=f"new:{KEY}x"),
        config(ROOT_KEYS=KEY),
        config(ROOT_KEYS_PROGRAM=""),
    ):
        with pytest.raises(ConfigError) as refusal:
            await outside_root_keys(setting)
        assert KEY[:10] not in str(refusal.value)
    with pytest.raises(RootKeyUnavailableError):
        await outside_root_keys(config(ROOT_KEYS_PROGRAM="/nowhere/kms"))


def test_a_key_of_a_variable_is_in_no_repr_and_no_option() -> None:
    from service.cli.main import build_parser

    assert KEY[:10] not in repr(config(ROOT_KEYS=f"new:{KEY}"))
    with pytest.raises(SystemExit):
        build_parser().parse_args(["serve", "--root-keys", f"new:{KEY}"])
