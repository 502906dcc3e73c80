"""A client of the API, as small as the demo needs."""

from typing import Any

from aiohttp import ClientSession


class DemoError(Exception):
    """The API refused a step of the demo."""


class Api:
    """Calls the API as one user and returns the envelope's ``data``."""

    def __init__(self, http: ClientSession, base_url: str, token: str) -> None:
        self._http = http
        self._base_url = base_url
        self._headers = {"Authorization": f"Bearer {token}"}

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send JSON, read JSON.

        :raises DemoError: for any answer but a success
        """
        async with self._http.request(
            method, self._base_url + path, json=body, headers=self._headers
        ) as response:
            envelope = await response.json()
            if not response.ok:
                raise DemoError(f"{method} {path}: {envelope['message']}")
            return envelope["data"]

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
