"""Guessing tokens is slowed down, and so is what declares a rate limit."""

from service.http.rate_limit import Buckets, RateLimit
from service.users.tokens import new_token
from tests.callers import Callers

ME = "/api/users/me"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_passes_and_then_one_each_interval() -> None:
    clock = Clock()
    buckets = Buckets(RateLimit(burst=3, interval_s=10), clock=clock)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 10]

    clock.now += 4
    assert buckets.take("a") == 6

    clock.now += 6
    assert [buckets.take("a"), buckets.take("a")] == [0, 10]

    clock.now += 1000
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 10]


def test_keys_do_not_take_from_each_other() -> None:
    buckets = Buckets(RateLimit(burst=1, interval_s=10), clock=Clock())

    assert [buckets.take("a"), buckets.take("b")] == [0, 0]
    assert [buckets.take("a"), buckets.take("b")] == [10, 10]


def test_the_table_is_bounded_and_forgets_the_longest_untouched() -> None:
    buckets = Buckets(RateLimit(burst=1, interval_s=10), keys_max=2, clock=Clock())

    for key in ("a", "b", "c"):
        buckets.take(key)

    assert len(buckets) == 2
    assert [buckets.take("c"), buckets.take("a")] == [10, 0]


async def test_guessing_is_slowed_down_but_a_good_token_never_is(
    edge: Callers,
) -> None:
    ada = await edge.user("ada")

    guesses = [await edge.with_token(new_token()).get(ME) for _ in range(12)]

    assert [guess.status for guess in guesses] == [401] * 10 + [429] * 2
    assert guesses[-1].code == "too_many_refused_tokens"
    assert 1 <= int(guesses[-1].headers["Retry-After"]) <= 10
    assert (await ada.get(ME)).status == 200


async def test_calling_without_a_token_is_no_guess(edge: Callers) -> None:
    replies = [await edge.anonymous().get(ME) for _ in range(15)]

    assert {reply.status for reply in replies} == {401}


async def test_an_operation_can_limit_each_user(edge: Callers) -> None:
    ada = await edge.user("ada")
    eve = await edge.user("eve")

    replies = [await ada.get("/test/costly") for _ in range(3)]

    assert [reply.status for reply in replies] == [200, 200, 429]
    assert replies[-1].code == "rate_limited"
    assert 1 <= int(replies[-1].headers["Retry-After"]) <= 60
    assert (await eve.get("/test/costly")).status == 200
