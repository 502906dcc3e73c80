"""Guessing tokens is slowed down, and so is what declares a rate limit."""

from service.users.tokens import new_token
from tests.support.callers import Caller, Callers

ME = "/api/users/me"


async def test_guessing_is_slowed_down_but_a_good_token_never_is(
    edge: Callers, ada: Caller
) -> None:
    guesses = [await edge.with_token(new_token()).get(ME) for _ in range(12)]

    assert [guess.status for guess in guesses] == [401] * 10 + [429] * 2
    assert guesses[-1].code == "too_many_refused_tokens"
    assert 1 <= int(guesses[-1].headers["Retry-After"]) <= 10
    assert (await ada.get(ME)).status == 200


async def test_a_missing_token_counts_as_no_guess(edge: Callers) -> None:
    replies = [await edge.anonymous().get(ME) for _ in range(15)]

    assert {reply.status for reply in replies} == {401}


async def test_an_operation_can_limit_each_user(edge: Callers, ada: Caller) -> None:
    eve = await edge.user("eve")

    replies = [await ada.get("/test/costly") for _ in range(3)]

    assert [reply.status for reply in replies] == [200, 200, 429]
    assert replies[-1].code == "rate_limited"
    assert 1 <= int(replies[-1].headers["Retry-After"]) <= 60
    assert (await eve.get("/test/costly")).status == 200
