"""Exports against a proxy that cuts connections."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import (
    ConnectionFailedError,
    LogEpochChangedError,
)
from agent_runtime_client.export_file import ExportFile
from tests.integration.client.conftest import ENTRIES, url_of
from tests.support.callers import Caller
from tests.support.cutting_proxy import cutting_proxy


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.thorough
async def test_an_export_continues_after_breaks(
    filled: AsyncAgentRuntime,
    client: TestClient,
    ada: Caller,
    tmp_path: Path,
    form: str,
) -> None:
    path = tmp_path / f"audit.{form}"
    progress: list[tuple[int, int]] = []
    # Reads are recorded, so a whole export has a fixed end.
    end = {"until_position": ENTRIES}
    whole = getattr(filled.audit, f"export_{form}")(**end)
    await whole.save(tmp_path / "whole")
    async with (
        cutting_proxy(url_of(client), [6000, 9000, 300]) as url,
        AsyncAgentRuntime(url, ada.token) as cut,
    ):
        export = getattr(cut.audit, f"export_{form}")(**end)
        done = await export.save(path, progress=lambda *each: progress.append(each))

    assert path.read_bytes() == (tmp_path / "whole").read_bytes()
    assert done.until_position == progress[-1][0] == progress[-1][1] == ENTRIES
    assert not list(tmp_path.glob("*.part*"))  # noqa: ASYNC240 # a test


async def test_an_export_continues_in_a_later_call(
    filled: AsyncAgentRuntime, client: TestClient, ada: Caller, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    async with (
        cutting_proxy(url_of(client), [8000]) as url,
        AsyncAgentRuntime(url, ada.token, max_retries=0) as cut,
    ):
        with pytest.raises(ConnectionFailedError):
            await cut.audit.export_jsonl().save(path)
    assert not path.exists()
    part = (tmp_path / "audit.jsonl.part").read_bytes()

    done = await filled.audit.export_jsonl().save(path)

    assert path.read_bytes().startswith(part)
    *lines, end = [json.loads(line) for line in path.read_text().splitlines()]
    assert end == {"end": {"until_position": done.until_position}}
    positions = [line["position"] for line in lines]
    assert positions == list(range(1, done.until_position + 1))


async def test_an_export_of_a_restored_log_does_not_continue(
    filled: AsyncAgentRuntime, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    ExportFile(path, {}, is_csv=False).begin(3, "another epoch")

    with pytest.raises(LogEpochChangedError, match=r"\.part"):
        await filled.audit.export_jsonl().save(path)


async def test_a_lost_connection_ends_chunks_with_an_error_of_the_client(
    filled: AsyncAgentRuntime, client: TestClient, ada: Caller
) -> None:
    async with (
        cutting_proxy(url_of(client), [8000]) as url,
        AsyncAgentRuntime(url, ada.token) as cut,
    ):
        chunks = cut.audit.export_jsonl().chunks()
        with pytest.raises(ConnectionFailedError) as raised:
            await read_all(chunks)

    assert raised.value.__context__ is None


async def read_all(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])
