"""Exports: streamed, or written to a file."""
# Made by "make generated"; do not edit.

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.attempts import Attempts
from agent_runtime_client.errors import LogEpochChangedError
from agent_runtime_client.export_file import Exported, ExportFile, Records, has_end
from agent_runtime_client.failures import cut_off, no_answer
from agent_runtime_client.operation import Call, Operation

Progress = Callable[[int, int], None]


class Export:
    """An export of entries by position; nothing is asked for before it is used."""

    def __init__(
        self,
        caller: Caller,
        operation: Operation,
        *,
        query: Mapping[str, Any],
        is_csv: bool,
    ) -> None:
        self._caller = caller
        self._operation = operation
        self._query = query
        self._is_csv = is_csv

    def save(self, path: str | Path, *, progress: Progress | None = None) -> Exported:
        """Write the export to a file, which appears when it is complete.

        After a lost connection it goes on by itself; after an error, saving to the
        same path again continues. ``progress`` is called with the last position
        written and the last one to come.

        :raises LogEpochChangedError: the log was restored since the export began
        """
        file = ExportFile(Path(path), self._query, is_csv=self._is_csv)
        attempts = Attempts(self._caller.options)
        while not file.is_whole:
            before = file.position
            call = self._caller.call(
                self._operation, query={**self._query, **file.rest}
            )
            try:
                with closing(self._send(call)) as answer:
                    epoch = answer.headers.get("X-Log-Epoch")
                    if file.epoch not in (None, epoch):
                        raise _restored(path)
                    file.begin(int(answer.headers["X-Event-Position"]), epoch)
                    self._append(answer, file, progress)
                failure = cut_off(call)
            except httpx.RequestError as error:
                failure = no_answer(call, error)
            if not file.is_whole:
                if file.position != before:
                    attempts = Attempts(self._caller.options)
                time.sleep(attempts.pause_s(failure))
        return file.finish()

    def chunks(self) -> Iterator[bytes]:
        """Iterate over the export's bytes.

        :raises ConnectionFailedError: the connection was lost, or the export was cut
            off
        """
        call = self._caller.call(self._operation, query=self._query)
        records = Records(is_csv=self._is_csv)
        is_whole = False
        try:
            with closing(self._send(call)) as answer:
                for chunk in answer.iter_bytes():
                    yield chunk
                    if whole := records.take(chunk):
                        is_whole = has_end(whole, is_csv=self._is_csv)
            failure = cut_off(call)
        except httpx.RequestError as error:
            failure = no_answer(call, error)
        if not is_whole:
            raise failure.error

    def _send(self, call: Call) -> httpx.Response:
        return self._caller.send(call, stream=True)

    def _append(
        self, answer: httpx.Response, file: ExportFile, progress: Progress | None
    ) -> None:
        records = Records(is_csv=self._is_csv)
        for chunk in answer.iter_bytes():
            file.append(records.take(chunk))
            if progress is not None and file.position is not None:
                progress(file.position, file.until or file.position)


def _restored(path: str | Path) -> LogEpochChangedError:
    return LogEpochChangedError(
        f"the log was restored since the export to {path} began; delete its "
        ".part files to start again",
        code="log_epoch_changed",
    )
