"""Who is calling: without a valid token nothing else of a request is looked at."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.resources import Resources
from service.users.aggregate import Token, token_id
from service.users.tokens import new_token
from tests.integration.http.raw import answer_to_head
from tests.support.callers import Caller, Callers

CONNECTORS = "/api/mcp/connectors"
ME = "/api/users/me"


async def revoke(resources: Resources, caller: Caller) -> None:
    assert caller.token is not None
    revoked_id = token_id(resources.key_ring.token_hash(caller.token))

    async def decide(work: UnitOfWork) -> None:
        token = await work.load(Token, revoked_id)
        token.revoke()
        work.save(token)

    await execute(
        resources.log, decide, metadata={"actor": "test"}, at=datetime.now(UTC)
    )


def broken(token: str) -> str:
    return token[:-1] + ("0" if token[-1] != "0" else "1")


async def test_every_bad_token_gets_the_same_answer(
    edge: Callers, ada: Caller, resources: Resources
) -> None:
    eve = await edge.user("eve")
    await revoke(resources, eve)
    assert ada.token is not None
    headers = [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {ada.token}",
        f"Token {ada.token}",
        ada.token,
        f"Bearer {broken(ada.token)}",
        f"Bearer {new_token()}",
        f"Bearer {eve.token}",
    ]

    replies = [
        await edge.anonymous().get(ME, Authorization=header, X_Request_Id="same")
        for header in headers
    ]
    replies += [await edge.anonymous().get(ME, X_Request_Id="same")]

    assert {reply.status for reply in replies} == {401}
    assert len({reply.body for reply in replies}) == 1
    assert all(
        reply.headers["WWW-Authenticate"].startswith('Bearer realm="agent-runtime"')
        for reply in replies
    )


async def test_the_scheme_is_not_case_sensitive(edge: Callers, ada: Caller) -> None:
    reply = await edge.anonymous().get(ME, Authorization=f"bEARER  {ada.token} ")

    assert reply.status == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", CONNECTORS, b"{not json"),
        ("POST", CONNECTORS, None),
        ("GET", f"{CONNECTORS}?unknown=1", None),
        ("POST", f"{CONNECTORS}/no-uuid/grants/public", None),
    ],
)
async def test_a_caller_without_a_token_learns_only_that(
    edge: Callers, method: str, path: str, body: bytes | None
) -> None:
    reply = await edge.anonymous().call(method, path, body)

    assert (reply.status, reply.code) == (401, "unauthenticated")


async def test_a_body_is_asked_for_only_after_authentication(ada: Caller) -> None:
    head = {
        "Content-Type": "application/json",
        "Content-Length": "10",
        "Expect": "100-continue",
    }
    with_token = {**head, "Authorization": f"Bearer {ada.token}"}
    too_large = {**with_token, "Content-Length": "100000000"}

    line, client = f"POST {CONNECTORS}", ada.client
    refused = await answer_to_head(client, line, head)
    asked = await answer_to_head(client, line, with_token)
    over = await answer_to_head(client, line, too_large)

    assert refused.startswith(b"HTTP/1.1 401 ")
    assert asked == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert over.startswith(b"HTTP/1.1 413 ")


async def test_public_operations_need_no_token(edge: Callers) -> None:
    anonymous = edge.anonymous()

    answer = await anonymous.client.get("/openapi.json")

    assert answer.status == 200


async def test_a_token_of_a_user_that_is_none_is_refused(
    edge: Callers, resources: Resources
) -> None:
    token = new_token()

    async def decide(work: UnitOfWork) -> None:
        work.save(
            Token(
                id=token_id(resources.key_ring.token_hash(token)),
                user_id=str(UUID(int=1)),
                label="of nobody",
            )
        )

    await execute(
        resources.log, decide, metadata={"actor": "test"}, at=datetime.now(UTC)
    )

    assert (await edge.with_token(token).get(ME)).status == 401
