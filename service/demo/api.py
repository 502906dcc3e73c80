"""A client of the API, as small as the demo needs."""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from aiohttp import ClientSession

# A busy machine answers 503 for minutes, until its read tables are built.
ATTEMPTS_MAX: Final = 600
RETRY_INTERVAL_S: Final = 1.0


class DemoError(Exception):
    """The API refused a step of the demo."""


class Api:
    """Calls the API as one user and returns the envelope's ``data``."""

    def __init__(self, http: ClientSession, base_url: str, token: str) -> None:
        self._http = http
        self._base_url = base_url
        self._headers = {"Authorization": f"Bearer {token}"}

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send JSON and return the answer's data; repeat what is answered with 503.

        :raises DemoError: for any other answer than a success
        """
        for attempt in range(1, ATTEMPTS_MAX + 1):
            async with self._http.request(
                method, self._base_url + path, json=body, headers=self._headers
            ) as response:
                envelope = await response.json()
            if response.ok:
                return envelope["data"]
            if (
                response.status != HTTPStatus.SERVICE_UNAVAILABLE
                or attempt == ATTEMPTS_MAX
            ):
                break
            await asyncio.sleep(RETRY_INTERVAL_S)
        raise DemoError(f"{method} {path}: {envelope['message']}")

    async def get(self, path: str) -> Any:
        return await self.call("GET", path)

    async def post(self, path: str, body: Any = None) -> Any:
        return await self.call("POST", path, body)

    async def put(self, path: str, body: Any = None) -> Any:
        return await self.call("PUT", path, body)

    async def as_new_user(self, name: str, *roles: str) -> "Api":
        """Create a user and return a client with a token of theirs."""
        user = await self.post("/api/users", {"name": name, "roles": list(roles)})
        issued = await self.post(f"/api/users/{user['id']}/tokens", {"label": "demo"})
        return Api(self._http, self._base_url, issued["token"])
