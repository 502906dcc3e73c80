"""What stands beside the signed entries of an export of the service."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from agent_runtime_client import AsyncAgentRuntime, operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client.errors import VerificationFailedError
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.export_check import check_export
from service.resources import Resources
from tests.integration.client.art import Art
from tests.support.audit.ends import with_end
from tests.support.audit.tampering import exported, sign


async def test_an_export_of_the_service_contradicts_nothing(
    runtime: AsyncAgentRuntime, resources: Resources, tmp_path: Path
) -> None:
    await runtime.agents.create("Triage")
    signed = await sign(resources, tmp_path)
    checkpoint = Checkpoint.open(signed.note, [signed.key])

    found = check_export(with_end(await exported(resources)), [checkpoint])

    assert (found.proven, found.problem) == (checkpoint.size, None)


async def test_the_command_refuses_a_mislabelled_export(
    runtime: AsyncAgentRuntime, resources: Resources, tmp_path: Path, art: Art
) -> None:
    await runtime.agents.create("Triage")
    signed = await sign(resources, tmp_path)
    for name, content in (("kept", signed.note), ("key", str(signed.key))):
        (tmp_path / name).write_text(content)  # a test
    first, *others = with_end(await exported(resources))
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
        {"kind": "user.erased"},
        {"position": 2},
        {"version": 99},
        {"recorded_at": "2026-01-01T00:00:00Z"},
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
