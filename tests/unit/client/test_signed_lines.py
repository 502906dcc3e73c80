"""What stands beside a signed entry is compared with it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
import pytest

from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.export_check import check_export
from agent_runtime_client.proofs.merkle import GrowingTree
from projections.audit.proofs.leaf import hash_of
from tests.support.audit.ends import with_end
from tests.unit.audit.reviewer import entry, members_of

ACTOR = "944342f0-3b2a-4c5d-8e6f-0123456789ab"
METADATA = {
    "actor": ACTOR,
    "token": str(UUID(int=5)),
    "request_id": "r-1",
    "traceparent": f"00-{'4b' * 16}-{'f0' * 8}-01",
}
ENTRIES = [
    entry(1, metadata=orjson.dumps(METADATA).decode()),
    entry(2, metadata='{"actor":"system"}'),
    entry(3, metadata="[damaged"),
]
GENUINE: list[dict[str, Any]] = [
    {
        **members_of(ENTRIES[0]),
        "actor_id": ACTOR,
        "actor": "any name",
        "token_id": METADATA["token"],
        "request_id": "r-1",
        "trace_id": "4b" * 16,
        "address": None,
        "kind": "user.created",
        "resource": {"kind": "user", "id": str(UUID(int=1)), "name": "eve"},
        "what": "any sentence",
    },
    {**members_of(ENTRIES[1]), "actor_id": None, "actor": "system"},
    {**members_of(ENTRIES[2]), "actor_id": None, "actor": None},
]
OTHER_ID = str(UUID(int=9))
LIES: list[tuple[int, dict[str, Any]]] = [
    (1, {"actor_id": OTHER_ID}),
    (1, {"actor_id": None}),
    (1, {"actor_id": [ACTOR]}),
    (1, {"token_id": OTHER_ID}),
    (1, {"request_id": "r-2"}),
    (1, {"trace_id": "5c" * 16}),
    (1, {"address": "192.0.2.1"}),
    (1, {"kind": "user.erased"}),
    (1, {"resource": {"kind": "agent", "id": str(UUID(int=1))}}),
    (1, {"resource": {"kind": "user", "id": OTHER_ID}}),
    (1, {"resource": "user"}),
    (2, {"actor": "eve"}),
    (3, {"actor": "system"}),
]


def lines_of(*changes: tuple[int, dict[str, Any]]) -> list[bytes]:
    entries = [dict(each) for each in GENUINE]
    for position, members in changes:
        entries[position - 1] |= members
    return [orjson.dumps(each) + b"\n" for each in entries]


def root() -> bytes:
    tree = GrowingTree()
    for each in ENTRIES:
        tree.append(hash_of(each))
    return tree.root()


def problem(lines: list[bytes]) -> tuple[str, int] | None:
    found = check_export(with_end(lines), [Checkpoint("log/1", 3, root())]).problem
    return (found.kind, found.position) if found else None


def test_what_follows_from_the_entries_is_believed() -> None:
    assert problem(lines_of()) is None
    assert problem(lines_of((1, {"actor": "other", "what": "other"}))) is None


@pytest.mark.parametrize("lie", LIES, ids=range(len(LIES)))
def test_a_member_beside_the_signed_columns_is_refused(
    lie: tuple[int, dict[str, Any]],
) -> None:
    assert problem(lines_of(lie)) == ("mislabelled", lie[0])


@pytest.mark.parametrize(
    "harm",
    [
        lambda line: b'{"state":"EVIL",' + line[1:],
        lambda line: line.replace(b'"name":"eve"', b'"name":"eve","name":"ada"'),
        lambda line: b'{"state_base64":"RVZJTA==",' + line[1:],
        lambda _: b"[" * 100_000 + b"\n",
    ],
    ids=["a member twice", "a member of a member twice", "two states", "nested"],
)
def test_a_line_that_programs_read_differently_is_refused(
    harm: Callable[[bytes], bytes],
) -> None:
    first, *others = lines_of()

    assert problem([harm(first), *others]) == ("unreadable", 1)
