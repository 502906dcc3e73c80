"""Root keys from a variable, a file, a program, or the data folder."""

from pathlib import Path

import pytest

from service.errors import ConfigError
from service.keys.root_key_source import outside_root_keys
from tests.support.keys.settings import KEY, WAIT_S, config, key_file


async def test_outside_root_keys_need_a_setting() -> None:
    assert await outside_root_keys(config(), WAIT_S) is None


async def test_keys_of_a_variable() -> None:
    root = await outside_root_keys(config(ROOT_KEYS=f"new:{KEY},old:{KEY}"), WAIT_S)
    assert root is not None
    assert (root.primary_id, root.key_ids) == ("new", {"new", "old"})


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440])
async def test_keys_of_a_file_such_as_a_credential_of_systemd(
    tmp_path: Path, mode: int
) -> None:
    given = config(ROOT_KEYS_FILE=key_file(tmp_path, mode=mode))
    root = await outside_root_keys(given, WAIT_S)
    assert root is not None
    assert root.primary_id == "new"


async def test_two_sources_are_refused(tmp_path: Path) -> None:
    both = config(ROOT_KEYS=f"new:{KEY}", ROOT_KEYS_FILE=key_file(tmp_path))
    with pytest.raises(ConfigError, match="not from several"):
        await outside_root_keys(both, WAIT_S)


def test_a_key_from_a_variable_appears_in_no_repr_or_option() -> None:
    from service.cli.main import build_parser

    assert KEY[:10] not in repr(config(ROOT_KEYS=f"new:{KEY}"))
    with pytest.raises(SystemExit):
        build_parser().parse_args(["serve", "--root-keys", f"new:{KEY}"])
