"""Records of an export, and an export that was cut before the first."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import (
    ConnectionFailedError,
)
from agent_runtime_client.export_file import Records


def test_records_of_csv_end_outside_of_quotes() -> None:
    splitter = Records(is_csv=True)

    whole = [splitter.take(chunk) for chunk in (b'1,"a\n', b'b"\n2,"', b'c"\n')]
    assert whole == [b"", b'1,"a\nb"\n', b'2,"c"\n']


class CutAfter(httpx.AsyncByteStream):
    def __init__(self, start: bytes) -> None:
        self._start = start

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._start
        raise httpx.ReadError("cut")


@pytest.mark.parametrize("by_itself", [True, False])
async def test_an_export_that_was_cut_behind_its_column_names_has_them_once(
    tmp_path: Path, *, by_itself: bool
) -> None:
    columns, rows = b"position,kind\n", b"1,a\n2,b\n"
    answers = [
        httpx.Response(200, stream=CutAfter(columns)),
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
