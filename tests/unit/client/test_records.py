"""Records of an export, and exports that were cut off."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import (
    ConnectionFailedError,
)
from agent_runtime_client.export_file import ExportFile, Records, has_end
from agent_runtime_client.proofs.export_end import end_line


def test_records_of_csv_end_outside_of_quotes() -> None:
    splitter = Records(is_csv=True)

    whole = [splitter.take(chunk) for chunk in (b'1,"a\n', b'b"\n2,"', b'c"\n')]
    assert whole == [b"", b'1,"a\nb"\n', b'2,"c"\n']


@pytest.mark.parametrize(
    ("records", "is_csv", "is_whole"),
    [
        (b'{"position":1}\n{"end":{"until_position":1}}\n', False, True),
        (b'{"end":{"until_position":0}}\n', False, True),
        (b'{"position":1}\n', False, False),
        (b'{"position":1,"end":{"until_position":1}}\n', False, False),
        (b'{"end":{"until_position":"1"}}\n', False, False),
        (b"", False, False),
        (b'position,kind\r\n1,a\r\nend,,"1, the last"\r\n', True, True),
        (b"position,kind\r\n1,a\r\n", True, False),
        (b'1,"a\nend,,"\r\n', True, False),
        (b'1,"a\nend,,""b"""\r\n', True, False),
        (b"", True, False),
    ],
)
def test_an_export_is_whole_with_its_end(
    records: bytes, *, is_csv: bool, is_whole: bool
) -> None:
    assert has_end(records, is_csv=is_csv) == is_whole


class CutAfter(httpx.AsyncByteStream):
    """An answer that breaks off; ``is_told``: its end is no regular one."""

    def __init__(self, start: bytes, *, is_told: bool) -> None:
        self._start = start
        self._is_told = is_told

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._start
        if self._is_told:
            raise httpx.ReadError("cut")


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "hidden by a proxy"])
@pytest.mark.parametrize("by_itself", [True, False])
async def test_an_export_that_was_cut_behind_its_column_names_has_them_once(
    tmp_path: Path, *, by_itself: bool, is_told: bool
) -> None:
    columns, rows = b"position,kind\n", b"1,a\n2,b\nend,,\n"
    answers = [
        httpx.Response(200, stream=CutAfter(columns, is_told=is_told)),
        httpx.Response(200, content=columns + rows),
    ]

    def handle(_: httpx.Request) -> httpx.Response:
        answer = answers.pop(0)
        answer.headers["X-Event-Position"] = "2"
        return answer

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    runtime = AsyncAgentRuntime("http://test", http=http, max_retries=int(by_itself))
    path = tmp_path / "audit.csv"
    if not by_itself:
        with pytest.raises(ConnectionFailedError):
            await runtime.audit.export_csv().save(path)

    await runtime.audit.export_csv().save(path)

    assert path.read_bytes() == columns + rows


async def test_chunks_of_an_export_that_was_cut_end_with_an_error() -> None:
    start = b'{"position":1}\n'

    def handle(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=CutAfter(start, is_told=False))

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    runtime = AsyncAgentRuntime("http://test", http=http)
    chunks = runtime.audit.export_jsonl().chunks()

    assert await anext(chunks) == start
    with pytest.raises(ConnectionFailedError, match="was cut off"):
        await anext(chunks)


async def test_a_whole_file_that_has_not_its_name_yet_is_not_asked_for_again(
    tmp_path: Path,
) -> None:
    """As after a kill between its last byte and its name."""
    path, content = tmp_path / "audit.jsonl", b'{"position":1}\n' + end_line(1)
    file = ExportFile(path, {}, is_csv=False)
    file.begin(1, None)
    file.append(content)

    def handle(_: httpx.Request) -> httpx.Response:
        raise AssertionError

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    done = (
        await AsyncAgentRuntime("http://test", http=http)
        .audit.export_jsonl()
        .save(path)
    )

    assert (path.read_bytes(), done.until_position) == (content, 1)
