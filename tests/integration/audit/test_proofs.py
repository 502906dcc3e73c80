"""Checkpoints and proofs over HTTP, checked by the second implementation."""

import base64
from pathlib import Path

import pytest
from psycopg import AsyncConnection

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.note import VerifierKey
from projections.audit.proofs.projector import MerkleTreeProjector
from projections.audit.proofs.queries import roots
from projections.catalog import follower_conninfo
from projections.engine.rebuild import rebuild
from service.resources import Resources
from tests.support.audit import rfc6962
from tests.support.audit.reading import text
from tests.support.audit.tampering import as_owner, rewrite_tree, sign
from tests.support.callers import Caller, Callers

# The leaf's encoding, a second time, by PostgreSQL.
LEAVES = """
    SELECT '\\x01'::bytea || int8send(notification_id) || uuid_send(originator_id)
           || int8send(originator_version)
           || int8send((extract(epoch FROM recorded_at) * 1000000)::bigint)
           || uuid_send(command_id)
           || int8send(octet_length(topic)) || convert_to(topic, 'UTF8')
           || int8send(octet_length(metadata::text))
           || convert_to(metadata::text, 'UTF8')
           || int8send(octet_length(state)) || state
      FROM events.stored_event
     ORDER BY notification_id
"""


async def leaves(resources: Resources) -> list[bytes]:
    """The leaves of the log, without any of our code."""
    async with await AsyncConnection.connect(resources.database_url) as db:
        rows = await (await db.execute(LEAVES)).fetchall()
    return [rfc6962.leaf(row[0]) for row in rows]


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    return await callers.user("ada")


@pytest.fixture
async def signed(
    ada: Caller, callers: Callers, resources: Resources, tmp_path: Path
) -> Checkpoint:
    """The checkpoint of a log of six users."""
    for number in range(5):
        await callers.user(f"üser{number}")
    return (await sign(resources, tmp_path)).checkpoint


@pytest.mark.usefixtures("signed")
async def test_the_checkpoint_is_of_the_log(ada: Caller, resources: Resources) -> None:
    note = await text(ada, "/api/audit/checkpoint")
    key = (await ada.get("/api/audit/checkpoint/key")).data["public_key"]

    checkpoint = Checkpoint.open(note, [VerifierKey.parse(key)])
    head = await resources.log.head()
    assert checkpoint.origin == f"agent-runtime/{head.epoch}"
    assert checkpoint.size == head.position
    assert checkpoint.root == rfc6962.mth(await leaves(resources))


async def test_every_inclusion_is_proved(
    ada: Caller, signed: Checkpoint, resources: Resources
) -> None:
    hashed = await leaves(resources)

    for position in range(1, signed.size + 1):
        reply = await ada.get(f"/api/audit/proofs/inclusion?position={position}")
        assert reply.status == 200
        proof = [base64.b64decode(each) for each in reply.data["hashes"]]
        assert reply.data["tree_size"] == signed.size
        assert base64.b64decode(reply.data["leaf_hash"]) == hashed[position - 1]
        assert reply.data["checkpoint"] is not None
        assert rfc6962.includes(
            hashed[position - 1], position - 1, signed.size, proof, signed.root
        )


async def test_every_consistency_is_proved(
    ada: Caller, signed: Checkpoint, resources: Resources
) -> None:
    hashed = await leaves(resources)

    for first in range(1, signed.size + 1):
        reply = await ada.get(f"/api/audit/proofs/consistency?first={first}")
        assert reply.status == 200
        proof = [base64.b64decode(each) for each in reply.data["hashes"]]
        first_root = rfc6962.mth(hashed[:first])
        assert base64.b64decode(reply.data["first_root"]) == first_root
        assert rfc6962.is_consistent(first, signed.size, first_root, signed.root, proof)


async def test_proofs_of_what_no_checkpoint_covers_yet(
    ada: Caller, resources: Resources, tmp_path: Path
) -> None:
    await sign(resources, tmp_path)
    made = await ada.post("/api/catalog/agents", {"name": "Triage"})

    reply = await ada.get(
        f"/api/audit/proofs/inclusion?position={made.position}",
        X_Min_Position=str(made.position),
    )

    assert (reply.data["tree_size"], reply.data["checkpoint"]) == (made.position, None)


async def test_proofs_beyond_the_tree_are_refused(ada: Caller) -> None:
    for query in (
        "inclusion?position=1000",
        "inclusion?position=1&size=1000",
        "inclusion?position=2&size=1",
        "inclusion?position=0",
        "consistency?first=1000",
        "consistency?first=1&second=1000",
        "consistency?first=2&second=1",
        "consistency?first=0",
        "consistency",
    ):
        reply = await ada.get(f"/api/audit/proofs/{query}", X_Min_Position="2")
        assert reply.status == 400, query


async def test_before_the_first_checkpoint(ada: Caller) -> None:
    for path in ("checkpoint", "checkpoint/key"):
        reply = await ada.get(f"/api/audit/{path}")
        assert (reply.status, reply.code) == (503, "no_checkpoint_yet")


async def test_a_rebuild_leaves_the_tree_as_it_is(
    signed: Checkpoint, resources: Resources
) -> None:
    conninfo = follower_conninfo(resources.database_url)

    await rebuild(conninfo, resources.log.mapper, MerkleTreeProjector())

    async with resources.pool.connection() as db:
        assert await roots(db, signed.size) == [signed.root]
    assert signed.root == rfc6962.mth(await leaves(resources))


@pytest.mark.parametrize(
    ("proof", "change"),
    [
        (
            "inclusion?position=2",
            "UPDATE events.stored_event SET topic = 'x' WHERE notification_id = 2",
        ),
        ("inclusion?position=2", "UPDATE events.merkle_node SET hash = ''"),
        (
            "inclusion?position=2",
            "DELETE FROM events.merkle_node WHERE level = 0 AND number = 1",
        ),
        (
            "consistency?first=3&second=4",
            (
                "UPDATE events.merkle_node SET hash = sha256(hash)"
                " WHERE level = 0 AND number = 2"
            ),
        ),
        (
            "consistency?first=3&second=4",
            "DELETE FROM events.merkle_node WHERE level = 0 AND number = 2",
        ),
    ],
)
async def test_an_invalid_proof_is_refused(
    ada: Caller,
    callers: Callers,
    resources: Resources,
    tmp_path: Path,
    proof: str,
    change: str,
) -> None:
    await callers.user("bob")
    await sign(resources, tmp_path)
    await as_owner(resources, change)

    reply = await ada.get(f"/api/audit/proofs/{proof}")

    assert (reply.status, reply.code) == (503, "log_contradicted")


async def test_proofs_of_an_earlier_checkpoint_have_it(
    ada: Caller, callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    earlier = await sign(resources, tmp_path)
    await callers.user("bob")
    await sign(resources, tmp_path)

    included = await ada.get("/api/audit/proofs/inclusion?position=1&size=2")
    consistent = await ada.get("/api/audit/proofs/consistency?first=1&second=2")

    assert included.data["checkpoint"] == earlier.note
    assert consistent.data["checkpoint"] == earlier.note


@pytest.mark.parametrize(
    "path", ["inclusion?position=2&size=2", "consistency?first=2&second=2"]
)
async def test_a_proof_that_contradicts_an_earlier_checkpoint_is_not_answered(
    ada: Caller, callers: Callers, resources: Resources, tmp_path: Path, path: str
) -> None:
    await sign(resources, tmp_path)
    await callers.user("bob")
    await sign(resources, tmp_path)
    await as_owner(
        resources,
        "UPDATE events.stored_event SET topic = 'x' WHERE notification_id = 1",
    )
    await rewrite_tree(resources)

    reply = await ada.get(f"/api/audit/proofs/{path}")

    assert (reply.status, reply.code) == (503, "log_contradicted")
