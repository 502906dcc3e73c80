"""Users of the tests, and calling the API as one of them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from uuid import UUID

import orjson
from aiohttp.test_utils import TestClient

from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.resources import Resources
from service.users.aggregate import Token, User, token_id
from service.users.tokens import new_token


@dataclass(frozen=True, slots=True)
class Reply:
    """A response whose envelope has been checked."""

    status: int
    data: Any
    message: str
    headers: Any
    body: bytes

    @property
    def code(self) -> str:
        return str(self.data["code"])

    @property
    def position(self) -> int:
        return int(self.headers["X-Event-Position"])


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone with a token; ``token`` None calls without one."""

    client: TestClient
    token: str | None
    user_id: UUID | None = None

    async def call(
        self, method: str, path: str, json: Any = None, **headers: str
    ) -> Reply:
        """Call the API; ``X_Min_Position="3"`` sends the header X-Min-Position."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        body: BytesIO | None = None
        if json is not None:
            body = BytesIO(json if isinstance(json, bytes) else orjson.dumps(json))
            sent.setdefault("Content-Type", "application/json")
        response = await self.client.request(method, path, data=body, headers=sent)
        raw = await response.read()
        envelope = orjson.loads(raw)
        assert envelope.keys() == {"data", "message", "status_code"}
        assert envelope["status_code"] == response.status
        return Reply(
            response.status,
            envelope["data"],
            envelope["message"],
            response.headers,
            raw,
        )

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.call("GET", path, **headers)

    async def post(self, path: str, json: Any = None, **headers: str) -> Reply:
        return await self.call("POST", path, json, **headers)

    async def put(self, path: str, json: Any = None, **headers: str) -> Reply:
        return await self.call("PUT", path, json, **headers)

    async def delete(self, path: str, **headers: str) -> Reply:
        return await self.call("DELETE", path, **headers)


class Callers:
    """Makes users straight in the log, so that any test can have any caller."""

    def __init__(self, resources: Resources, client: TestClient) -> None:
        self._resources = resources
        self._client = client

    async def user(self, name: str, *roles: str) -> Caller:
        token = new_token()

        async def make(work: UnitOfWork) -> UUID:
            user = User(name=name)
            for role in roles:
                user.grant_role(role)
            issued = Token(
                id=token_id(self._resources.key_ring.token_hash(token)),
                user_id=str(user.id),
                label="test",
            )
            work.save(user)
            work.save(issued)
            return user.id

        user_id, _ = await execute(
            self._resources.log, make, metadata={"actor": "test"}, at=datetime.now(UTC)
        )
        return Caller(self._client, token, user_id)

    def anonymous(self) -> Caller:
        return Caller(self._client, None)

    def with_token(self, token: str) -> Caller:
        return Caller(self._client, token)
