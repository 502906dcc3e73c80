"""Whatever the owner of the database does to the log, an earlier checkpoint shows."""

from pathlib import Path

import orjson
import pytest
from psycopg.errors import RaiseException

from agent_runtime_client.proofs.export_check import ConflictingCheckpointsError
from projections.engine.progress import wait_for_position
from service.resources import Resources
from tests.support.audit.ends import without_end
from tests.support.audit.reading import text
from tests.support.audit.tampering import (
    as_owner,
    exported,
    positions,
    rewrite_tree,
    sign,
    verified,
)
from tests.support.callers import Caller, Callers

USERS = 8
# What can be done to the log around position 7 of 16, and how it is told apart.
UP = "UPDATE events.stored_event SET notification_id = notification_id + 1000"
APPENDED = "UPDATE events.stored_event SET state = state || '\\x20'"
DOWN = "UPDATE events.stored_event SET notification_id = notification_id"
CHANGES = {
    "a byte of the state": "state = set_byte(state, 20, get_byte(state, 20) # 1)",
    "the author": 'metadata = \'{"actor":"eve"}\'',
    "a blank in the metadata": "metadata = (metadata::text || ' ')::json",
    "the time": "recorded_at = recorded_at - interval '1 microsecond'",
    "the kind": "topic = 'user.role_granted'",
    "the version": "originator_version = 9",
    "the command": "command_id = gen_random_uuid()",
}
INSERT = (
    "INSERT INTO events.stored_event SELECT gen_random_uuid(), 1, topic, state, 7,"
    " recorded_at, command_id, metadata FROM events.stored_event"
    " WHERE notification_id = 5"
)
TAMPERING = {
    **{
        name: (
            [f"UPDATE events.stored_event SET {change} WHERE notification_id = 7"],  # noqa: S608 # ours
            "changed",
        )
        for name, change in CHANGES.items()
    },
    "a deletion that leaves a gap": (
        ["DELETE FROM events.stored_event WHERE notification_id = 7"],
        "removed",
    ),
    "a deletion that is closed up": (
        [
            "DELETE FROM events.stored_event WHERE notification_id = 7",
            f"{UP} WHERE notification_id > 7",
            f"{DOWN} - 1001 WHERE notification_id > 1000",
            "UPDATE events.head SET position = position - 1",
        ],
        "removed",
    ),
    "an insertion": (
        [
            f"{UP} WHERE notification_id >= 7",
            f"{DOWN} - 999 WHERE notification_id > 1000",
            INSERT,
            "UPDATE events.head SET position = position + 1",
        ],
        "inserted",
    ),
    "two that are exchanged": (
        [
            f"{UP} WHERE notification_id IN (7, 8)",
            f"{DOWN} - 999 WHERE notification_id = 1007",
            f"{DOWN} - 1001 WHERE notification_id = 1008",
        ],
        "reordered",
    ),
    "two far apart that are exchanged": (
        [
            f"{UP} WHERE notification_id IN (7, 13)",
            f"{DOWN} - 994 WHERE notification_id = 1007",
            f"{DOWN} - 1006 WHERE notification_id = 1013",
        ],
        "changed",
    ),
}


@pytest.fixture
async def history(callers: Callers) -> None:
    for number in range(USERS):
        await callers.user(f"user{number}")


async def test_an_honest_export_is_verified(
    history: None, callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    first = await sign(resources, tmp_path)
    await callers.user("later")
    second = await sign(resources, tmp_path)
    await callers.user("latest")
    head = (await resources.log.head()).position

    lines = await exported(resources)
    check = verified(lines, first, second)

    assert positions(lines) == [*range(1, head + 1)]
    assert check.problem is None
    assert (check.entries, check.proven) == (head, second.checkpoint.size)


async def test_an_export_over_http_is_as_good(
    history: None, auditor: Caller, resources: Resources, tmp_path: Path
) -> None:
    signed = await sign(resources, tmp_path)

    lines = (await text(auditor, "/api/audit/export.jsonl")).encode()

    check = verified(without_end(lines.splitlines(keepends=True)), signed)
    assert check.problem is None
    assert check.proven == signed.checkpoint.size


async def test_no_tree_grows_over_a_gap(history: None, resources: Resources) -> None:
    await as_owner(
        resources, "DELETE FROM events.stored_event WHERE notification_id = 7"
    )

    with pytest.raises(RaiseException, match="no position 7"):
        await rewrite_tree(resources)


@pytest.mark.parametrize("name", TAMPERING)
async def test_tampering_is_found_at_its_position(
    history: None, resources: Resources, tmp_path: Path, name: str
) -> None:
    statements, what = TAMPERING[name]
    signed = await sign(resources, tmp_path)

    await as_owner(resources, *statements)

    check = verified(await exported(resources), signed)
    assert check.problem is not None
    assert (check.problem.kind, check.problem.position) == (what, 7)
    assert check.proven == 0
    # Where one was removed, no checkpoint's size is reached that confirms the leaves.
    assert check.verified == (0 if what == "removed" else 6)


@pytest.mark.parametrize(
    "name", ["a byte of the state", *list(TAMPERING)[len(CHANGES) :]]
)
async def test_rewriting_the_tree_as_well_hides_nothing(
    history: None, callers: Callers, resources: Resources, tmp_path: Path, name: str
) -> None:
    """Checkpoints narrow it down; an earlier export tells the very position."""
    statements, what = TAMPERING[name]
    before = await sign(resources, tmp_path)
    earlier = await exported(resources)
    await as_owner(resources, *statements)
    if "leaves a gap" not in name:  # over a gap no tree can be built
        await rewrite_tree(resources)

    now = await exported(resources)
    alone = verified(now, before)
    beside = verified(now, before, earlier=earlier)

    assert alone.problem is not None
    assert alone.problem.position <= 7 <= (alone.problem.until_position or 7)
    assert beside.problem is not None
    assert (beside.problem.kind, beside.problem.position) == (what, 7)


async def test_checkpoints_narrow_down_where_a_rewritten_log_differs(
    history: None, callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    signed = [await sign(resources, tmp_path)]
    for name in ("ada", "bob"):
        await callers.user(name)
        signed.append(await sign(resources, tmp_path))
    changed = signed[0].checkpoint.size + 2
    await as_owner(
        resources,
        f"{APPENDED} WHERE notification_id = {changed}",
    )
    await rewrite_tree(resources)

    check = verified(await exported(resources), *signed)

    assert check.proven == signed[0].checkpoint.size
    assert check.problem is not None
    assert check.problem.position == signed[0].checkpoint.size + 1
    assert check.problem.until_position == signed[1].checkpoint.size


async def test_a_log_that_was_cut_is_found(
    history: None, resources: Resources, tmp_path: Path
) -> None:
    signed = await sign(resources, tmp_path)
    lines = await exported(resources)

    check = verified(lines[:-3], signed)

    assert check.problem is not None
    assert check.problem.kind == "removed"
    assert (check.problem.position, check.problem.until_position) == (1, len(lines) - 2)


async def test_where_a_log_was_cut_behind_a_checkpoint(
    history: None, callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    first = await sign(resources, tmp_path)
    await callers.user("later")
    second = await sign(resources, tmp_path)
    lines = await exported(resources)

    check = verified(lines[: first.checkpoint.size], first, second)

    assert check.problem is not None
    assert check.problem.position == first.checkpoint.size + 1
    assert check.problem.until_position is None


async def test_every_flipped_bit_of_an_export_is_found(
    history: None, resources: Resources, tmp_path: Path
) -> None:
    """In the parts that the log holds; words beside them are for reading only."""
    signed = await sign(resources, tmp_path)
    lines = await exported(resources)
    for number in range(0, len(lines), 3):
        for field in ("position", "aggregate_id", "version", "topic", "recorded_at"):
            _expect_found(lines, number, field, signed)
        for field in ("command_id", "metadata", "state"):
            _expect_found(lines, number, field, signed)


def _expect_found(lines: list[bytes], number: int, field: str, signed: object) -> None:
    members = orjson.loads(lines[number])
    value = members[field]
    if isinstance(value, int):
        members[field] = value ^ 1 or 5
    else:
        members[field] = value[:-2] + ("1" if value[-2] != "1" else "2") + value[-1]
    changed = [*lines]
    changed[number] = orjson.dumps(members) + b"\n"
    check = verified(changed, signed)  # type: ignore[arg-type]  # a Signed
    assert check.problem is not None, (number, field)
    assert check.problem.position == number + 1, (number, field, check)


async def test_what_is_no_export_is_found(
    history: None, resources: Resources, tmp_path: Path
) -> None:
    signed = await sign(resources, tmp_path)
    lines = await exported(resources)
    for broken in (b"{}\n", b"[]\n", b"{\n", b"\n", b"\xff\n", b'{"position":"1"}\n'):
        check = verified([*lines[:4], broken, *lines[4:]], signed)
        assert check.problem is not None
        assert (check.problem.kind, check.problem.position) == ("unreadable", 5)


MISLABELLED = {
    "actor_id": "00000000-0000-4000-8000-00000000000e",
    "token_id": "00000000-0000-4000-8000-00000000000e",
    "request_id": "another",
    "trace_id": "another",
    "address": "192.0.2.7",
    "kind": "secret.deleted",
    "resource": {"kind": "user", "id": "00000000-0000-4000-8000-00000000000e"},
}


@pytest.mark.parametrize("member", MISLABELLED)
async def test_members_that_follow_from_the_entry_are_compared_with_it(
    history: None, resources: Resources, tmp_path: Path, member: str
) -> None:
    signed = await sign(resources, tmp_path)
    lines = await exported(resources)
    members = {**orjson.loads(lines[6]), member: MISLABELLED[member]}

    check = verified([*lines[:6], orjson.dumps(members) + b"\n", *lines[7:]], signed)

    assert check.problem is not None
    assert (check.problem.kind, check.problem.position) == ("mislabelled", 7)
    assert check.problem.words.startswith(f"{member} of the entry at position 7")


async def test_a_line_with_a_key_twice_is_refused(
    history: None, resources: Resources, tmp_path: Path
) -> None:
    """Programs that read the first or the last of them would read different entries."""
    signed = await sign(resources, tmp_path)
    lines = await exported(resources)
    twice = lines[6].replace(b"{", b'{"what":"nothing",', 1)

    check = verified([*lines[:6], twice, *lines[7:]], signed)

    assert check.problem is not None
    assert (check.problem.kind, check.problem.position) == ("unreadable", 7)


async def test_a_damaged_tree_is_not_a_damaged_log(
    history: None, resources: Resources, tmp_path: Path
) -> None:
    signed = await sign(resources, tmp_path)
    await as_owner(
        resources,
        "UPDATE events.merkle_node SET hash = sha256(hash)"
        " WHERE level = 0 AND number = 2",
    )

    assert verified(await exported(resources), signed).problem is None


async def test_two_signed_versions_of_one_log_are_found(
    history: None, resources: Resources, tmp_path: Path
) -> None:
    first = await sign(resources, tmp_path)
    await as_owner(
        resources,
        f"{APPENDED} WHERE notification_id = 7",
        "DELETE FROM events.checkpoint",
    )
    await rewrite_tree(resources)
    forgetful = tmp_path / "forgetful"
    forgetful.mkdir()
    second = await sign(resources, forgetful)

    with pytest.raises(ConflictingCheckpointsError):
        verified(await exported(resources), first, second)


async def test_erasure_changes_no_leaf(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    root = await callers.user("root", "superuser")
    ada = await callers.user("ada")
    secret = {"name": "TOKEN", "value": "correct horse battery staple"}
    assert (await ada.post("/api/secrets", secret)).status == 201
    signed = await sign(resources, tmp_path)

    assert (await root.delete(f"/api/users/{ada.user_id}/key")).status == 200
    gone = (await resources.log.head()).position
    await wait_for_destruction(resources, gone)

    check = verified(await exported(resources), signed)
    assert check.problem is None
    assert check.proven == signed.checkpoint.size


async def wait_for_destruction(resources: Resources, position: int) -> None:
    await wait_for_position(resources.pool, ["destruction"], position, timeout_s=60)
