"""Expired tokens over HTTP."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from service.errors import UnauthenticatedError
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.resources import Resources
from service.users.aggregate import Token, User, token_id
from service.users.authenticate import TokenAuthenticator
from service.users.tokens import new_token
from tests.support.callers import Callers
from tests.support.scenario import principal

ADA = principal("ada")
SECOND = timedelta(seconds=1)


async def test_an_expired_token_is_refused_also_from_the_cache(
    resources: Resources,
) -> None:
    expires_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    text = new_token()

    async def make(work: UnitOfWork) -> None:
        ada = User(name="ada")
        work.save(ada)
        work.save(
            Token(
                id=token_id(resources.key_ring.token_hash(text)),
                user_id=str(ada.id),
                label="laptop",
                expires_at=expires_at.isoformat(),
            )
        )

    await execute(resources.log, make, metadata={"actor": "test"}, at=expires_at)
    now = expires_at - SECOND
    authenticator = TokenAuthenticator(
        resources.log, resources.key_ring.token_hash, clock=lambda: now
    )
    header = f"Bearer {text}"
    assert (await authenticator.authenticate(header)).user_id == ADA.user_id
    assert authenticator.recall(header) is not None

    now = expires_at

    assert authenticator.recall(header) is None
    with pytest.raises(UnauthenticatedError):
        await authenticator.authenticate(header)


async def test_the_answers_show_when_a_token_expires(callers: Callers) -> None:
    ada = await callers.user("ada")
    path = f"/api/users/{ada.user_id}/tokens"

    issued = await ada.post(
        path, {"label": "laptop", "expires_at": "2999-01-01T00:00:00Z"}
    )
    refused = await ada.post(
        path, {"label": "laptop", "expires_at": "2001-01-01T00:00:00Z"}
    )

    assert issued.status == 201
    assert issued.data["expires_at"] == "2999-01-01T00:00:00Z"
    as_ada = callers.with_token(issued.data["token"])
    assert (await as_ada.get("/api/users/me")).data["token_id"] == issued.data["id"]
    listed = await ada.get(path, X_Min_Position=str(issued.position))
    (shown, first) = listed.data["tokens"]
    assert UUID(shown["id"]) == UUID(issued.data["id"])
    assert (shown["expires_at"], first["expires_at"]) == (
        "2999-01-01T00:00:00Z",
        None,
    )
    assert (refused.status, refused.data["errors"][0]["path"]) == (422, "expires_at")
