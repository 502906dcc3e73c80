"""Tokens that expire, and how many a user can have."""

from datetime import datetime, timedelta
from uuid import uuid4

from service.errors import ConflictError, InvalidRequestError
from service.users.aggregate import TOKENS_MAX, Token, User
from service.users.commands import IssueToken, RevokeToken, issue_token, revoke_token
from tests.support.scenario import Scenario, principal

ADA = principal("ada")
SECOND = timedelta(seconds=1)


def issue(expires_at: datetime | None = None) -> IssueToken:
    return IssueToken(
        user_id=ADA.user_id, token_id=uuid4(), label="laptop", expires_at=expires_at
    )


def token(expires_at: datetime | None = None) -> Token:
    return Token(
        id=uuid4(),
        user_id=str(ADA.user_id),
        label="laptop",
        expires_at=expires_at.isoformat() if expires_at else None,
    )


async def with_tokens(scenario: Scenario, *tokens: Token) -> None:
    """Give ada these tokens, and others that are valid, as many as she can have."""
    ada = User(name="ada")
    others = [token() for _ in range(TOKENS_MAX - len(tokens))]
    for each in (*tokens, *others):
        ada.add_token(each.id)
    await scenario.given(ada, *tokens, *others)


async def test_a_token_expires_when_its_issuer_says(scenario: Scenario) -> None:
    await scenario.given(User(name="ada"))
    expires_at = scenario.at + SECOND
    await scenario.when(issue_token, issue(expires_at), by=ADA)
    await scenario.then(("user.token_added", ADA), ("token.issued", ADA))
    assert scenario.result.is_valid(scenario.at)
    assert not scenario.result.is_valid(expires_at)


async def test_a_token_that_has_expired_already_is_not_issued(
    scenario: Scenario,
) -> None:
    await scenario.given(User(name="ada"))
    await scenario.when(issue_token, issue(scenario.at), by=ADA)
    await scenario.then_refused(InvalidRequestError)


async def test_a_user_has_no_more_valid_tokens_than_allowed(
    scenario: Scenario,
) -> None:
    await with_tokens(scenario)
    await scenario.when(issue_token, issue(), by=ADA)
    await scenario.then_refused(ConflictError)


async def test_a_revoked_token_makes_room(scenario: Scenario) -> None:
    old = token()
    await with_tokens(scenario, old)
    command = RevokeToken(user_id=ADA.user_id, token_id=old.id)
    await scenario.when(revoke_token, command, by=ADA)
    await scenario.when(issue_token, issue(), by=ADA)
    await scenario.then(("user.token_added", ADA), ("token.issued", ADA))
    await scenario.when(issue_token, issue(), by=ADA)
    await scenario.then_refused(ConflictError)


async def test_an_expired_token_makes_room(scenario: Scenario) -> None:
    await with_tokens(scenario, token(scenario.at))
    await scenario.when(issue_token, issue(), by=ADA)
    await scenario.then(("user.token_added", ADA), ("token.issued", ADA))
