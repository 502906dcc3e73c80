"""Two users' secrets against a model written from the contract, while keys rotate."""

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.keys.rotation import rotate_root_key
from service.open_resources import open_resources
from tests.support.callers import Caller, Callers, Reply

pytestmark = pytest.mark.thorough

Result = TypeVar("Result")
KEPT = 10
NAMES = ("a", "B.2")
users = st.integers(0, 1)
names = st.sampled_from(NAMES)
values = st.one_of(
    st.sampled_from(["", "swordfish", "x" * 65_536, "x" * 65_537, "ü" * 32_769]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)
matches = st.one_of(st.none(), st.sampled_from(["current", "stale", "next"]))
places = st.one_of(st.none(), st.integers(1, 14))
_numbers = itertools.count()


@dataclass
class Modelled:
    """A name of one user: every value there was, the destroyed ones as None."""

    values: list[str | None] = field(default_factory=list)
    is_there: bool = False

    @property
    def version(self) -> int:
        return len(self.values)

    def add(self, value: str) -> None:
        self.values.append(value)
        self.values[:-KEPT] = [None] * len(self.values[:-KEPT])
        self.is_there = True

    def delete(self) -> None:
        self.values = [None] * self.version
        self.is_there = False


class Service:
    """The service, on a loop that runs whenever it is asked something."""

    def __init__(self, database_url: str, data_dir: Path) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self.run(self._start(database_url, data_dir))

    def run(self, doing: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(doing)

    def stop(self) -> None:
        self.run(self._stack.aclose())
        self._runner.close()

    async def _start(self, database_url: str, data_dir: Path) -> None:
        enter = self._stack.enter_async_context
        self.resources = await enter(open_resources(database_url, data_dir))
        followers = await enter(run_followers(self.resources.log, database_url))
        client = await enter(TestClient(TestServer(create_app(self.resources))))
        await wait_for_position(
            self.resources.pool, [each.name for each in followers], 0, timeout_s=60
        )
        self.callers = Callers(self.resources, client)


@pytest.fixture
def service(database_url: str, tmp_path: Path) -> Iterator[Service]:
    started = Service(database_url, tmp_path)
    yield started
    started.stop()


class Secrets(RuleBasedStateMachine):
    service: Service

    def __init__(self) -> None:
        super().__init__()
        self.users: list[Caller] = [
            self.service.run(self.service.callers.user(f"user{next(_numbers)}"))
            for _ in range(2)
        ]
        self.model = {(user, name): Modelled() for user in range(2) for name in NAMES}
        self.fingerprints: dict[tuple[int, str], str] = {}

    @rule(user=users, name=names, value=values)
    def create(self, user: int, name: str, value: str) -> None:
        secret = self.model[user, name]
        reply = self._call(user, "POST", "/api/secrets", {"name": name, "value": value})
        if not is_acceptable(value):
            assert reply.status == 422
        elif secret.is_there:
            assert (reply.status, reply.code) == (409, "secret_exists")
        else:
            assert reply.status == 201
            self._written(user, name, value, reply)

    @rule(user=users, name=names, value=values, match=matches)
    def overwrite(self, user: int, name: str, value: str, match: str | None) -> None:
        secret = self.model[user, name]
        reply = self._call(
            user,
            "PUT",
            f"/api/secrets/{name}",
            {"value": value},
            **self._sent(secret, match),
        )
        if not is_acceptable(value):
            assert reply.status == 422
        elif self._is_writable(secret, match, reply):
            self._written(user, name, value, reply)

    @rule(user=users, name=names, times=st.integers(5, 12))
    def overwrite_often(self, user: int, name: str, times: int) -> None:
        for number in range(times):
            self.overwrite(user, name, str(number), None)

    @rule(user=users, name=names, version=st.integers(1, 14), match=matches)
    def restore(self, user: int, name: str, version: int, match: str | None) -> None:
        secret = self.model[user, name]
        reply = self._call(
            user,
            "POST",
            f"/api/secrets/{name}/versions/{version}/restore",
            **self._sent(secret, match),
        )
        if self._is_writable(secret, match, reply, version):
            value = secret.values[version - 1]
            assert value is not None
            self._written(user, name, value, reply)

    @rule(user=users, name=names, version=places)
    def reveal(self, user: int, name: str, version: int | None) -> None:
        secret = self.model[user, name]
        query = "" if version is None else f"?version={version}"
        reply = self._call(user, "GET", f"/api/secrets/{name}/value{query}")
        asked = version or secret.version
        if not secret.is_there or asked > secret.version:
            assert reply.status == 404
        elif secret.values[asked - 1] is None:
            assert (reply.status, reply.code) == (409, "value_destroyed")
        else:
            assert reply.status == 200
            expected = {
                "name": name,
                "version": asked,
                "value": secret.values[asked - 1],
            }
            assert reply.data == expected

    @rule(user=users, name=names, match=matches)
    def delete(self, user: int, name: str, match: str | None) -> None:
        secret = self.model[user, name]
        reply = self._call(
            user, "DELETE", f"/api/secrets/{name}", **self._sent(secret, match)
        )
        if self._is_writable(secret, match, reply):
            assert reply.status == 200
            secret.delete()

    @rule()
    def rotate(self) -> None:
        resources = self.service.resources
        self.service.run(
            rotate_root_key(resources.pool, resources.key_ring, lambda *_: None)
        )

    def teardown(self) -> None:
        """Compare everything there is with the model at the end."""
        for user, name in self.model:
            self.reveal(user, name, None)
        head = self.service.run(self.service.resources.log.head()).position
        for user in range(2):
            listed = self._call(user, "GET", "/api/secrets", X_Min_Position=str(head))
            there = {
                name: secret.version
                for (owner, name), secret in self.model.items()
                if owner == user and secret.is_there
            }
            found = {each["name"]: each["version"] for each in listed.data["secrets"]}
            assert found == there
            for name in there:
                shown = self._call(user, "GET", f"/api/secrets/{name}?limit=100")
                kept = [
                    each["destroyed_at"] is None
                    for each in reversed(shown.data["versions"])
                ]
                expected = self.model[user, name].values
                assert kept == [value is not None for value in expected]

    def _call(
        self, user: int, method: str, path: str, body: Any = None, **headers: str
    ) -> Reply:
        return self.service.run(self.users[user].call(method, path, body, **headers))

    def _sent(self, secret: Modelled, match: str | None) -> dict[str, str]:
        if match is None:
            return {}
        version = secret.version + {"current": 0, "stale": -1, "next": 1}[match]
        return {"If_Match": f'"{max(version, 0)}"'}

    def _is_writable(
        self,
        secret: Modelled,
        match: str | None,
        reply: Reply,
        version: int | None = None,
    ) -> bool:
        """Say whether a write must have happened; check the refusal where not."""
        if not secret.is_there:
            assert (reply.status, reply.code) == (404, "not_found")
        elif match in ("stale", "next"):
            assert reply.status == 412
            assert reply.headers["ETag"] == f'"{secret.version}"'
        elif version is not None and version > secret.version:
            assert (reply.status, reply.code) == (404, "no_such_version")
        elif version is not None and secret.values[version - 1] is None:
            assert (reply.status, reply.code) == (409, "value_destroyed")
        else:
            return True
        assert "X-Event-Position" not in reply.headers
        return False

    def _written(self, user: int, name: str, value: str, reply: Reply) -> None:
        secret = self.model[user, name]
        secret.add(value)
        assert reply.status in (200, 201)
        assert reply.data["version"] == secret.version
        assert reply.headers["ETag"] == f'"{secret.version}"'
        # Equal values of one owner, and those only, have equal fingerprints.
        fingerprint = reply.data["fingerprint"]
        known = self.fingerprints.setdefault((user, value), fingerprint)
        assert known == fingerprint
        assert len(set(self.fingerprints.values())) == len(self.fingerprints)


def is_acceptable(value: str) -> bool:
    return 1 <= len(value.encode()) <= 65_536


@pytest.mark.timeout(1200)
def test_secrets_are_what_the_model_says(service: Service) -> None:
    Secrets.service = service
    run_state_machine_as_test(
        Secrets,
        settings=settings(
            max_examples=40,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
