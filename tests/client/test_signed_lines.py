"""What stands beside a signed entry is compared with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from agent_runtime_client import AsyncAgentRuntime, operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client.errors import VerificationFailedError
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.export_check import check_export
from agent_runtime_client.proofs.merkle import GrowingTree
from projections.audit.proofs.leaf import hash_of
from service.resources import Resources
from tests.audit.tampering import exported, sign
from tests.audit.test_verify_lines import entry, members_of
from tests.client.art import Art

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
    found = check_export(lines, [Checkpoint("log/1", 3, root())]).problem
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
        lambda _: b"[" * 100_000,
    ],
    ids=["a member twice", "a member of a member twice", "two states", "nested"],
)
def test_a_line_that_programs_read_differently_is_refused(
    harm: Callable[[bytes], bytes],
) -> None:
    first, *others = lines_of()

    assert problem([harm(first), *others]) == ("unreadable", 1)


async def test_an_export_of_the_service_contradicts_nothing(
    runtime: AsyncAgentRuntime, resources: Resources, tmp_path: Path
) -> None:
    await runtime.agents.create("Triage")
    signed = await sign(resources, tmp_path)
    checkpoint = Checkpoint.open(signed.note, [signed.key])

    found = check_export(await exported(resources), [checkpoint])

    assert (found.proven, found.problem) == (checkpoint.size, None)


@pytest.mark.processes
async def test_the_command_refuses_a_mislabelled_export(
    runtime: AsyncAgentRuntime, resources: Resources, tmp_path: Path, art: Art
) -> None:
    await runtime.agents.create("Triage")
    signed = await sign(resources, tmp_path)
    for name, content in (("kept", signed.note), ("key", str(signed.key))):
        (tmp_path / name).write_text(content)  # a test
    first, *others = await exported(resources)
    line = orjson.dumps({**orjson.loads(first), "kind": "user.erased"}) + b"\n"
    (tmp_path / "genuine").write_bytes(b"".join([first, *others]))
    (tmp_path / "mislabelled").write_bytes(b"".join([line, *others]))
    verify = ("audit", "verify", tmp_path / "kept", "--key", tmp_path / "key")

    genuine = await art(*verify, "--export", tmp_path / "genuine")
    mislabelled = await art(*verify, "--export", tmp_path / "mislabelled")
    one = await art(*verify, "--position", 1)

    assert genuine.code == 0, genuine.err
    assert one.code == 0, one.err
    assert "not covered: actor, resource.name, what\n" in genuine.err
    assert "not covered: actor, resource.name, what, changes\n" in one.err
    assert mislabelled.code != 0
    assert "kind of the entry at position 1 is not what its signed columns say" in (
        mislabelled.err
    )


@pytest.mark.parametrize(
    "lie",
    [
        {"actor_id": OTHER_ID},
        {"kind": "user.erased"},
        {"position": 2},
        {"version": 99},
        {"recorded_at": "2026-01-01T00:00:00Z"},
        {"resource": {"kind": "agent", "id": OTHER_ID, "name": None}},
    ],
    ids=lambda lie: next(iter(lie)),
)
async def test_what_the_service_says_beside_a_proven_entry_is_compared(
    runtime: AsyncAgentRuntime,
    resources: Resources,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lie: dict[str, Any],
) -> None:
    await runtime.agents.create("Triage")
    signed = await sign(resources, tmp_path)
    kept = Checkpoint.open(signed.note, [signed.key])
    envelope = AsyncCaller.envelope

    async def lying(caller: AsyncCaller, operation: Any, **given: Any) -> Any:
        data, response = await envelope(caller, operation, **given)
        if operation is operations.GET_AUDIT_EVENT:
            data = {**data, **lie}
        return data, response

    assert (await runtime.audit.verify(1, against=kept)).position == 1
    monkeypatch.setattr(AsyncCaller, "envelope", lying)

    with pytest.raises(VerificationFailedError, match=next(iter(lie))):
        await runtime.audit.verify(1, against=kept)
