"""A start with demo data on a log whose first token isn't used any more."""

from pathlib import Path

import orjson
import pytest

from service.bootstrap import create_first_admin
from service.open_resources import open_resources
from service.users.tokens import ADMIN_TOKEN_FILE, new_token
from tests.support.harness.service import running, serving

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("left", [None, new_token()], ids=["removed", "refused"])
async def test_the_demo_is_skipped_without_the_first_token(
    left: str | None, database_url: str, tmp_path: Path
) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    data.mkdir(mode=0o700)
    async with open_resources(database_url, data) as resources:
        await create_first_admin(resources, data)
    (data / ADMIN_TOKEN_FILE).unlink()
    if left is not None:
        (data / ADMIN_TOKEN_FILE).touch(mode=0o600)
        (data / ADMIN_TOKEN_FILE).write_text(left)

    where = ("--data-dir", str(data), "--database-url", database_url)
    with running(serving("--demo", "--only", "api", *where, log=log)):
        pass

    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    told = [
        (each["level"], each["message"]) for each in lines if "demo" in each["message"]
    ]
    reason = (
        f"there are users already, and no valid token of admin in {ADMIN_TOKEN_FILE}"
    )
    assert told == [("info", f"demo data not loaded: {reason}")]
