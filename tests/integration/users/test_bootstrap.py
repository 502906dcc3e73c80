"""The first admin, and tokens issued by the operator."""

import asyncio
import stat
from pathlib import Path

import pytest

from service.bootstrap import create_first_admin, issue_token_for
from service.errors import NotFoundError
from service.event_log.mapper import RecordedEvent
from service.keys.root_key import KeyRingError
from service.open_resources import open_resources
from service.resources import Resources
from service.users.aggregate import Token, User, token_id
from service.users.tokens import ADMIN_TOKEN_FILE, is_well_formed, new_token
from tests.support.reading import read_events
from tests.support.scenario import Scenario

ADMIN_EVENTS = [
    "user.created",
    "user.role_granted",
    "user.token_added",
    "token.issued",
]


async def everything(resources: Resources) -> list[RecordedEvent]:
    return await read_events(resources.log)


def token_files(folder: Path) -> list[Path]:
    """Find them all, also ones that a crash or a lost race would leave."""
    return sorted(folder.rglob(f"*{ADMIN_TOKEN_FILE}*"))


async def test_an_empty_log_gets_an_admin_whose_token_works(
    resources: Resources, tmp_path: Path
) -> None:
    file = await create_first_admin(resources, tmp_path)

    assert file == tmp_path / ADMIN_TOKEN_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    caller = await resources.authenticator.authenticate(
        f"Bearer {file.read_text().strip()}"
    )
    assert (caller.user_id, caller.is_superuser) == (User.create_id("admin"), True)
    recorded = await everything(resources)
    assert [each.topic for each in recorded] == ADMIN_EVENTS
    assert {each.metadata["actor"] for each in recorded} == {"system"}
    assert token_files(tmp_path) == [file]


async def test_later_starts_change_nothing_and_say_where_the_token_is(
    resources: Resources, tmp_path: Path
) -> None:
    first = await create_first_admin(resources, tmp_path)
    token = (tmp_path / ADMIN_TOKEN_FILE).read_text()

    assert await create_first_admin(resources, tmp_path) == first
    assert (tmp_path / ADMIN_TOKEN_FILE).read_text() == token
    assert len(await everything(resources)) == len(ADMIN_EVENTS)


async def test_a_file_with_a_useless_token_is_ignored(
    resources: Resources, tmp_path: Path
) -> None:
    file = await create_first_admin(resources, tmp_path)
    assert file is not None
    file.write_text(new_token())

    assert await create_first_admin(resources, tmp_path) is None

    file.unlink()
    assert await create_first_admin(resources, tmp_path) is None
    assert len(await everything(resources)) == len(ADMIN_EVENTS)


async def test_a_crash_between_file_and_log_is_made_good(
    resources: Resources, tmp_path: Path
) -> None:
    file = tmp_path / ADMIN_TOKEN_FILE
    token = new_token()
    file.touch(mode=0o600)
    file.write_text(token + "\n")

    assert await create_first_admin(resources, tmp_path) == file

    caller = await resources.authenticator.authenticate(f"Bearer {token}")
    assert caller.is_superuser
    assert file.read_text() == token + "\n"


async def test_a_log_with_other_events_still_gets_its_admin(
    resources: Resources, tmp_path: Path, scenario: Scenario
) -> None:
    await scenario.given(User(name="demo"))

    assert await create_first_admin(resources, tmp_path) == tmp_path / ADMIN_TOKEN_FILE


@pytest.mark.parametrize("content", ["", "art_not-a-token", "art_" + "0" * 36])
async def test_a_file_that_holds_no_token_is_left_alone(
    resources: Resources, tmp_path: Path, content: str
) -> None:
    file = tmp_path / ADMIN_TOKEN_FILE
    file.touch(mode=0o600)
    file.write_text(content)

    with pytest.raises(KeyRingError, match="holds no token"):
        await create_first_admin(resources, tmp_path)

    assert file.read_text() == content
    assert await everything(resources) == []


async def test_a_token_that_others_could_have_read_is_not_used(
    resources: Resources, tmp_path: Path
) -> None:
    file = tmp_path / ADMIN_TOKEN_FILE
    file.write_text(new_token())
    file.chmod(0o644)

    with pytest.raises(KeyRingError, match="open to others"):
        await create_first_admin(resources, tmp_path)

    assert await everything(resources) == []


async def test_two_processes_at_once_make_one_admin_of_one_folder(
    resources: Resources, tmp_path: Path
) -> None:
    async with open_resources(resources.database_url, tmp_path) as other:
        files = await asyncio.gather(
            *(
                create_first_admin(each, tmp_path)
                for each in (resources, other, resources, other)
            )
        )

    assert files == [tmp_path / ADMIN_TOKEN_FILE] * 4
    assert [each.topic for each in await everything(resources)] == ADMIN_EVENTS
    token = (tmp_path / ADMIN_TOKEN_FILE).read_text().strip()
    assert (await resources.authenticator.authenticate(f"Bearer {token}")).is_superuser


async def test_of_two_folders_on_one_log_one_keeps_its_token(
    resources: Resources, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    files = await asyncio.gather(
        create_first_admin(resources, tmp_path),
        create_first_admin(resources, elsewhere),
    )

    assert sorted(each is None for each in files) == [False, True]
    kept = [each for each in files if each is not None]
    assert token_files(tmp_path) == kept
    assert len(await everything(resources)) == len(ADMIN_EVENTS)


async def test_the_operator_issues_a_token_for_a_user(
    resources: Resources, scenario: Scenario
) -> None:
    await scenario.given(User(name="ada"))

    token = await issue_token_for(resources, "ada")

    assert is_well_formed(token)
    caller = await resources.authenticator.authenticate(f"Bearer {token}")
    assert caller.user_id == User.create_id("ada")
    issued = (await everything(resources))[-1]
    assert (issued.topic, issued.metadata["actor"]) == ("token.issued", "system")


async def test_the_operator_issues_tokens_only_for_existing_users(
    resources: Resources,
) -> None:
    with pytest.raises(NotFoundError, match="nobody"):
        await issue_token_for(resources, "nobody")


async def test_no_event_holds_a_token_or_its_hash(
    resources: Resources, scenario: Scenario
) -> None:
    await scenario.given(User(name="ada"))
    token = await issue_token_for(resources, "ada")
    token_hash = resources.key_ring.token_hash(token)

    issued = (await everything(resources))[-1]
    assert isinstance(issued.event, Token.Created)
    assert issued.aggregate_id == token_id(token_hash)
    async with resources.pool.connection() as db:
        cursor = await db.execute("SELECT state FROM events.stored_event")
        states = b"".join(bytes(row[0]) for row in await cursor.fetchall())
    assert token.encode() not in states
    assert token.removeprefix("art_")[:16].encode() not in states
    assert token_hash.hex().encode() not in states
