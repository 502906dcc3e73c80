"""Root keys held by another program, for example in front of a KMS."""

import asyncio
import base64
import binascii
import contextlib
import json
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any, Self

from service.keys.cipher import OpenError
from service.keys.root_key import (
    KEY_ID,
    RootKeyUnavailableError,
    WrongRootKeyError,
)

PLUGIN_DEADLINE_S = 2.0

logger = logging.getLogger(__name__)


class ExecRootKeys:
    """Root keys that a key program wraps and unwraps with.

    The program is started once for each operation, with ``ids``, ``wrap`` or
    ``unwrap`` as its last argument. It reads one JSON object from standard input
    and writes one to standard output; bytes are base64:

    - ``ids``: ``{}`` -> ``{"primary": ..., "ids": [...]}``
    - ``wrap``: ``{"plaintext", "aad"}`` -> ``{"key_id", "blob"}``
    - ``unwrap``: ``{"key_id", "blob", "aad"}`` -> ``{"plaintext"}``; exit status 3
      when the blob is not authentic

    Any other exit status, and no answer within the deadline, mean unavailable.
    """

    NOT_AUTHENTIC = 3

    def __init__(
        self, command: Sequence[str], *, deadline_s: float = PLUGIN_DEADLINE_S
    ) -> None:
        self._command = tuple(command)
        self._deadline_s = deadline_s
        self._primary_id = ""
        self._key_ids: frozenset[str] = frozenset()

    @classmethod
    async def start(
        cls, command: Sequence[str], *, deadline_s: float = PLUGIN_DEADLINE_S
    ) -> Self:
        provider = cls(command, deadline_s=deadline_s)
        await provider.refresh()
        return provider

    async def refresh(self) -> None:
        answer = await self._call("ids", {})
        ids = answer.get("ids")
        if not isinstance(ids, list) or answer.get("primary") not in ids:
            raise RootKeyUnavailableError("the key program's list of ids is malformed")
        self._primary_id = str(answer["primary"])
        self._key_ids = frozenset(str(key_id) for key_id in ids)

    @property
    def primary_id(self) -> str:
        return self._primary_id

    @property
    def key_ids(self) -> frozenset[str]:
        return self._key_ids

    async def wrap(self, plaintext: bytes, aad: bytes) -> tuple[str, bytes]:
        answer = await self._call("wrap", {"plaintext": plaintext, "aad": aad})
        key_id = answer.get("key_id")
        if not isinstance(key_id, str) or not KEY_ID.fullmatch(key_id):
            raise RootKeyUnavailableError("the key program named no key")
        if key_id != self._primary_id:
            self._primary_id, self._key_ids = key_id, self._key_ids | {key_id}
        return key_id, _bytes_of(answer, "blob")

    async def unwrap(self, key_id: str, blob: bytes, aad: bytes) -> bytes:
        if key_id not in self._key_ids:
            raise WrongRootKeyError(key_id)
        request: dict[str, bytes | str]
        request = {"key_id": key_id, "blob": blob, "aad": aad}
        return _bytes_of(await self._call("unwrap", request), "plaintext")

    async def _call(
        self, operation: str, request: Mapping[str, bytes | str]
    ) -> Mapping[str, Any]:
        encoded = {
            name: base64.b64encode(value).decode()
            if isinstance(value, bytes)
            else value
            for name, value in request.items()
        }
        try:
            async with asyncio.timeout(self._deadline_s):
                status, output = await self._run(
                    operation, json.dumps(encoded).encode()
                )
        except (OSError, TimeoutError) as error:
            raise _failed(operation, type(error).__name__) from None
        if status == self.NOT_AUTHENTIC and operation == "unwrap":
            raise OpenError
        if status != 0:
            raise _failed(operation, f"exit status {status}")
        return _json_object(output)

    async def _run(self, operation: str, request: bytes) -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            operation,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            output, _ = await process.communicate(request)
        finally:
            if process.returncode is None:
                # The whole group: a grandchild would keep the pipes open.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return process.returncode, output


def _failed(operation: str, how: str) -> RootKeyUnavailableError:
    logger.error("the key program failed", extra={"operation": operation, "how": how})
    return RootKeyUnavailableError(f"the key program failed at {operation}: {how}")


def _bytes_of(answer: Mapping[str, Any], name: str) -> bytes:
    try:
        return base64.b64decode(answer[name], validate=True)
    except (KeyError, TypeError, binascii.Error, ValueError):
        raise RootKeyUnavailableError(
            f"the key program's answer has no {name} in base64"
        ) from None


def _json_object(output: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(output)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise RootKeyUnavailableError("the key program's answer is not a JSON object")
    return answer
