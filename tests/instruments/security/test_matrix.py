"""Who may call what: every operation, by every kind of caller, with every token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import orjson
import pytest
from aiohttp.test_utils import TestClient

from projections.engine.progress import wait_for_position
from service.http.operation import EVENT_STREAM, Operation
from service.resources import Resources
from service.users.tokens import new_token
from tests.support.audit.tampering import sign
from tests.support.callers import Callers
from tests.support.operations.catalog import MATRIX, NOT_ASKED, make_things, where
from tests.support.operations.declaration import CALLERS
from tests.support.operations.walk import OPERATIONS, Walk
from tests.support.security.kinds import one_of_each_kind

METHODS = ("GET", "POST", "PUT", "DELETE")


@dataclass(frozen=True)
class World:
    """What the walk has made, and one user of each kind."""

    client: TestClient
    callers: Callers
    examples: Mapping[str, Any]
    ids: Mapping[str, Any]
    tokens: Mapping[str, str]
    admin_token: str

    async def ask(
        self, operation: Operation, token: str | None, ids: Mapping[str, Any]
    ) -> tuple[int, bytes, Mapping[str, str]]:
        example = self.examples.get(operation.name, {})
        url = operation.path.format(**ids)
        if query := example.get("query"):
            url += "?" + urlencode(query)
        headers = {"X-Request-Id": "matrix"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        body = example.get("body", None if operation.body is None else {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        async with self.client.request(
            operation.method,
            url,
            data=None if body is None else orjson.dumps(body),
            headers=headers,
        ) as answer:
            return answer.status, await answer.read(), dict(answer.headers)


@pytest.fixture
async def world(
    callers: Callers, client: TestClient, resources: Resources, tmp_path: Any
) -> World:
    ada = await callers.user("ada", "superuser")
    await sign(resources, tmp_path)
    walk = Walk(ada)
    ids = await make_things(walk)
    kinds = await one_of_each_kind(callers, ada, ids["agent_id"])
    head = (await resources.log.head()).position
    await wait_for_position(
        resources.pool, ["agents", "sessions", "users"], head, timeout_s=60
    )
    return World(
        client,
        callers,
        walk.examples,
        ids,
        {name: caller.token or "" for name, caller in kinds.items()},
        ada.token or "",
    )


def in_order() -> list[Operation]:
    """Reads first, and what takes away last, so that each finds what it asks for."""
    return sorted(
        (each for each in OPERATIONS.values() if each.name not in NOT_ASKED),
        # The rules of a retired agent can't be changed.
        key=lambda each: (METHODS.index(each.method), each.name == "delete_agent"),
    )


def test_every_operation_is_in_the_matrix() -> None:
    for name in OPERATIONS.keys() - MATRIX.keys() - NOT_ASKED.keys():
        pytest.fail(f"{name} needs a line in ACCESS of {where(name)}")
    assert {*MATRIX, *NOT_ASKED} == {*OPERATIONS}
    assert not {*MATRIX} & {*NOT_ASKED}
    streams = {n for n, each in OPERATIONS.items() if each.content_type == EVENT_STREAM}
    assert streams <= {*NOT_ASKED}


async def test_the_matrix(world: World) -> None:
    found: dict[str, dict[str, int]] = {}
    for operation in in_order():
        for name in CALLERS:
            status, _, _ = await world.ask(operation, world.tokens[name], world.ids)
            found.setdefault(operation.name, {})[name] = status

    assert found == {name: MATRIX[name] for name in found}


async def test_without_a_valid_token_every_answer_is_the_same(world: World) -> None:
    """Every operation without a token; one of them with each kind of invalid token."""
    ada = world.callers.with_token(world.admin_token)
    issued = (
        await ada.post(f"/api/users/{world.ids['user_id']}/tokens", {"label": "old"})
    ).data
    await ada.delete(f"/api/users/{world.ids['user_id']}/tokens/{issued['id']}")
    refused = {
        "malformed": "art_short",
        "not one of ours": "a.b.c",
        "unknown": new_token(),
        "revoked": issued["token"],
    }
    asked = [(operation, None) for operation in OPERATIONS.values()]
    asked += [(OPERATIONS["get_me"], token) for token in refused.values()]
    answers, challenges = set(), set()
    for operation, token in asked:
        if operation.public or operation.refusal is not None:
            continue
        status, body, headers = await world.ask(operation, token, world.ids)
        answers.add((status, body))
        challenges.add((token is None, headers["WWW-Authenticate"]))

    ((status, _),) = answers
    assert status == 401
    # As RFC 6750 wants it: who sends no token has made no mistake.
    assert challenges == {
        (True, 'Bearer realm="agent-runtime"'),
        (False, 'Bearer realm="agent-runtime", error="invalid_token"'),
    }


async def test_invisible_and_missing_things_look_alike_to_a_stranger(
    world: World,
) -> None:
    """To the byte: status, code, message and all."""
    ada = world.callers.with_token(world.admin_token)
    gone = await ada.delete(f"/api/mcp/connectors/{world.ids['id']}/grants/public")
    assert gone.status == 200
    told = []
    for operation in in_order():
        status, hidden, _ = await world.ask(
            operation, world.tokens["stranger"], world.ids
        )
        if status not in (403, 404) or "{" not in operation.path:
            continue
        missing = {**world.ids, **nowhere()}
        other, absent, _ = await world.ask(operation, world.tokens["stranger"], missing)
        if (status, hidden) != (other, absent):
            told.append((operation.name, status, hidden, other, absent))
    assert told == []


def nowhere() -> dict[str, Any]:
    """Ids of nothing, in the shape of something."""
    names = (
        "user_id",
        "agent_id",
        "id",
        "connector_id",
        "model_id",
        "provider_id",
        "aggregate_id",
    )
    return {
        **{name: str(uuid4()) for name in names},
        "token_id": str(uuid4()),
        "session_id": "chat-of-nobody",
        "name": "NOBODYS",
    }
