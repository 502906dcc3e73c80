"""``agent-runtime audit``, as a reviewer runs it, and as which role."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg import AsyncConnection

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.export_end import end_line
from projections.audit.proofs.sign import sign_checkpoint
from projections.audit.trail.queries import trail_and_log_end
from projections.engine.progress import wait_for_position
from service.cli.audit import reading_database
from service.database import READER_ROLE
from service.resources import Resources
from tests.support.audit.tampering import as_owner, change_epoch, record_epoch, sign
from tests.support.callers import Callers
from tests.support.event_log.logs import open_ledger, open_log
from tests.support.harness.service import audit

# The example of C2SP's signed-note.md.
C2SP_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"


async def test_a_reviewer_has_a_readers_rights(
    reviewer: str, resources: Resources
) -> None:
    for url in (reviewer, resources.database_url):
        async with reading_database(url) as db:
            row = await (
                await db.execute(
                    "SELECT current_user, current_setting('transaction_read_only')"
                )
            ).fetchone()
        assert row == (READER_ROLE, "on")


async def exports(
    url: str, tmp_path: Path, *options: str, name: str = "export"
) -> Path:
    path = tmp_path / name
    done = await audit("events", "--database-url", url, "--output", str(path), *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


@pytest.mark.thorough
async def test_export_and_verification_by_a_reader(
    callers: Callers, resources: Resources, reviewer: str, tmp_path: Path
) -> None:
    for name in ("ada", "bob"):
        await callers.user(name)
    signed = await sign(resources, tmp_path)
    nowhere = ["--data-dir", str(tmp_path / "none")]
    sound = await exports(reviewer, tmp_path, *nowhere)
    await as_owner(
        resources,
        "UPDATE events.stored_event SET state = state || '\\x20'"
        " WHERE notification_id = 3",
    )
    changed = await exports(reviewer, tmp_path, *nowhere, name="changed")

    async def verified(export: Path, key: str) -> tuple[int, str]:
        checkpoints = ["--checkpoint", str(tmp_path / "checkpoints")]
        done = await audit("verify", str(export), "--public-key", key, *checkpoints)
        return done.returncode, done.stdout + done.stderr

    epoch = (await resources.log.head()).epoch
    key_file = str(tmp_path / "checkpoints" / f"public-key.{epoch}")
    honest = (
        0,
        (
            "4 entries verified\nnot covered: the names actor and resource.name, and"
            " the sentences what\n"
        ),
    )
    assert await verified(sound, key_file) == honest
    assert await verified(sound, str(signed.key)) == honest
    said = [
        "VERIFICATION FAILED: the entry at position 3 is not the one recorded there",
        "2 entries verified",
    ]
    assert await verified(changed, key_file) == (1, "\n".join([*said, ""]))
    status, words = await verified(sound, C2SP_KEY)
    assert status == 2
    assert "no known key has signed" in words
    assert (await verified(tmp_path / "no", key_file))[0] == 2
    status, words = await verified(tmp_path, key_file)
    assert (status, "is a folder" in words) == (2, True)


@pytest.mark.parametrize("is_rewritten", [False, True])
@pytest.mark.thorough
async def test_checkpoints_of_other_epochs_and_logs_are_told_apart(
    callers: Callers, resources: Resources, tmp_path: Path, *, is_rewritten: bool
) -> None:
    for name in ("ada", "bob"):
        await callers.user(name)
    before = await sign(resources, tmp_path)
    if is_rewritten:
        await as_owner(
            resources,
            "UPDATE events.stored_event SET state = state || '\\x20'"
            " WHERE notification_id = 3",
        )
    await change_epoch(resources)
    await record_epoch(resources, tmp_path)
    after = await sign(resources, tmp_path)
    foreign = Checkpoint("another-log", 1, bytes(32))
    another = Ed25519PrivateKey.generate()
    (tmp_path / "checkpoints" / "foreign").write_text(sign_checkpoint(foreign, another))
    where = ["--database-url", resources.database_url, "--data-dir", str(tmp_path)]
    export = tmp_path / "export"
    await audit("events", "--output", str(export), *where)

    async def verified(*keys: str) -> tuple[int, list[str]]:
        done = await audit(
            *("verify", str(export), "--checkpoint", str(tmp_path / "checkpoints")),
            *(option for key in keys for option in ("--public-key", key)),
        )
        return done.returncode, done.stdout.splitlines()

    status, said = await verified(str(after.key))

    assert status == 0
    assert said[0] == "5 entries verified"
    agreed = (
        "0 entries only: the log was rewritten; no change of the epoch explains it"
        " (entry 5: a restore changed the epoch after position 4)"
        if is_rewritten
        else "4 entries, too"
    )
    assert said[2:] == [
        (
            f"checkpoints of {before.key.name}, not of {after.key.name}: they agree"
            f" with the first {agreed}"
        ),
        "checkpoints of another-log: 1 ignored, signed with none of the keys",
    ]
    expected = 1 if is_rewritten else 0
    assert (await verified(str(before.key)))[0] == expected
    assert (await verified(str(before.key), str(after.key)))[0] == expected


@pytest.mark.thorough
async def test_verifying_needs_a_checkpoint_in_the_folder(tmp_path: Path) -> None:
    export, folder = tmp_path / "export", tmp_path / "checkpoints"
    export.touch()
    folder.mkdir()

    done = await audit(
        *("verify", str(export), "--public-key", C2SP_KEY),
        *("--checkpoint", str(folder)),
    )

    assert done.returncode == 2
    assert "there is no checkpoint to verify with" in done.stderr


@pytest.mark.thorough
async def test_checkpoint_and_key_are_printed(
    callers: Callers, resources: Resources, reviewer: str, tmp_path: Path
) -> None:
    asked = ["checkpoint", "--database-url", reviewer]
    await callers.user("ada")
    before = await audit(*asked)
    assert (before.returncode, before.stdout) == (1, "")
    signed = await sign(resources, tmp_path)

    assert (await audit(*asked)).stdout == signed.note
    assert (await audit(*asked, "--key")).stdout == f"{signed.key}\n"


async def test_filters_and_formats(
    callers: Callers, resources: Resources, reviewer: str, tmp_path: Path
) -> None:
    ada = await callers.user("ada")
    made = await ada.post("/api/catalog/agents", {"name": "Triage"})
    await wait_for_position(
        resources.pool, ["audit_trail"], made.position, timeout_s=60
    )

    by_actor = await exports(reviewer, tmp_path, "--actor", str(ada.user_id))
    as_csv = await exports(
        reviewer, tmp_path, "--format", "csv", "--kind", "agent", name="csv"
    )

    _, end = by_actor.read_bytes().splitlines(keepends=True)
    assert end == end_line(made.position)
    header, row, last = as_csv.read_text().splitlines()
    assert last.startswith("end,,")
    assert header.startswith("position,recorded_at,")
    assert "registered the agent 'Triage'" in row


@pytest.mark.thorough
async def test_filters_need_a_trail_of_this_log(
    database_url: str, tmp_path: Path
) -> None:
    """As after a restore or a fail-over, before the followers have begun."""
    async with open_log(database_url) as log:
        await open_ledger(log, "main")
    output = tmp_path / "export"

    done = await audit(
        *("events", "--database-url", database_url, "--kind", "agent"),
        *("--output", str(output)),
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "the audit trail has not been built" in done.stderr
    assert not output.exists()


async def test_a_trail_of_another_epoch_holds_nothing(
    callers: Callers, resources: Resources
) -> None:
    await callers.user("ada")
    await wait_for_position(resources.pool, ["audit_trail"], 2, timeout_s=60)
    async with await AsyncConnection.connect(resources.database_url) as db:
        assert await trail_and_log_end(db) == (2, 2)
        await db.execute(
            "UPDATE read.position SET epoch = gen_random_uuid()"
            " WHERE follower = 'audit_trail'"
        )

        assert await trail_and_log_end(db) == (0, 2)

        await db.rollback()


async def test_bad_filters_are_settings_that_cant_be_used(database_url: str) -> None:
    done = await audit("events", "--database-url", database_url, "--actor", "ada")

    assert done.returncode == 78
    assert "--actor" in done.stderr
