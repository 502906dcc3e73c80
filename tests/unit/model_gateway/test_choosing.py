"""In which order the targets of a preset are tried."""

import random
from collections import Counter

import pytest

from service.model_gateway.calls.choosing import Stays, in_order
from service.model_gateway.routing.plan import Plan, TargetKey, TargetProblem
from tests.unit.model_gateway.planning import CONNECTION, plan, planned

SESSIONS = [f"session-{number}" for number in range(4000)]


def order(
    given: Plan,
    session: str | None = None,
    *,
    stays_with: TargetKey | None = None,
    continues_with: TargetKey | None = None,
    input_tokens: int | None = None,
) -> list[str]:
    """Return the models of the targets in order."""
    found = in_order(
        given,
        session=session,
        stays_with=stays_with,
        continues_with=continues_with,
        input_tokens=input_tokens,
    )
    return [each.target["model"] for each in found]


def key(model: str) -> TargetKey:
    return str(CONNECTION.id), model


def first_of(given: Plan) -> dict[str, str]:
    return {each: order(given, each)[0] for each in SESSIONS}


@pytest.mark.parametrize("has_sessions", [True, False])
def test_each_target_gets_the_share_of_its_weight(*, has_sessions: bool) -> None:
    given = plan([planned("a", 5), planned("b", 3), planned("c", 2)])
    random.seed(7)

    counted = Counter(
        order(given, session if has_sessions else None)[0] for session in SESSIONS
    )

    shares = {model: calls / len(SESSIONS) for model, calls in counted.items()}
    # Five standard deviations.
    assert shares == pytest.approx({"a": 0.5, "b": 0.3, "c": 0.2}, abs=0.04)


def test_a_session_has_one_order_and_others_have_others() -> None:
    given = plan([planned(each) for each in "abcd"])

    orders = {tuple(order(given, each)) for each in SESSIONS[:200]}

    assert len(orders) == 24
    assert all(order(given, "one") == order(given, "one") for _ in range(20))


def test_without_stickiness_each_call_is_balanced_anew() -> None:
    given = plan([planned("a"), planned("b")], sticky_s=0)
    random.seed(7)

    found = {order(given, "one")[0] for _ in range(100)}

    assert found == {"a", "b"}


def test_when_a_weight_changes_sessions_move_only_to_what_has_more() -> None:
    before = first_of(plan([planned("a"), planned("b"), planned("c")]))
    after = first_of(plan([planned("a"), planned("b", 3), planned("c")]))

    moved = {
        (before[each], after[each]) for each in SESSIONS if before[each] != after[each]
    }
    assert moved == {("a", "b"), ("c", "b")}


def test_a_session_keeps_its_target_when_a_weight_changes() -> None:
    stays = Stays()
    given = plan([planned("a"), planned("b")])
    before = first_of(given)
    targets = {each.target["model"]: each for each in given.targets}
    for session, model in before.items():
        stays.keep(given, targets[model], session)

    given.preset.terms["groups"][0]["targets"][1]["weight"] = 1000

    changed = plan([planned("a"), planned("b", 1000)])
    after = {
        each: order(changed, each, stays_with=stays.target(given, each))[0]
        for each in SESSIONS
    }
    assert after == before
    assert first_of(changed) != before


def test_groups_are_in_order_whatever_the_weights_and_the_session() -> None:
    given = plan([planned("a")], [planned("b", 1000), planned("c", 1000)])

    found = {tuple(order(given, each, stays_with=key("c"))) for each in SESSIONS[:50]}

    assert found == {("a", "c", "b")}


def test_a_response_is_continued_where_it_was_made_and_nowhere_else() -> None:
    given = plan([planned("a")], [planned("b")], [planned("c")])

    assert order(given, continues_with=key("c")) == ["c"]
    assert order(given, continues_with=key("gone")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        (None, ["small", "large", "unknown"]),
        (10, ["small", "large", "unknown"]),
        (11, ["large", "unknown"]),
        (21, ["unknown"]),
    ],
)
def test_a_prompt_goes_where_it_fits(tokens: int | None, found: list[str]) -> None:
    given = plan(
        [planned("small", window=10)],
        [planned("large", window=20)],
        [planned("unknown")],
    )

    assert order(given, input_tokens=tokens) == found


def test_what_fits_nowhere_goes_to_the_largest_window() -> None:
    given = plan(
        [planned("small", window=10), planned("large", window=20)],
        [planned("middle", window=15)],
    )

    assert order(given, input_tokens=21) == ["large"]


def test_a_target_with_a_problem_is_never_asked() -> None:
    gone = TargetProblem.CONNECTION_RETIRED
    given = plan([planned("a", problem=gone), planned("b")], [planned("c")])

    assert order(given, stays_with=key("a"), continues_with=key("a")) == ["b", "c"]


def test_a_session_stays_in_its_preset_and_nowhere_else() -> None:
    stays, given, other = Stays(), plan([planned("a")]), plan([planned("a")])

    stays.keep(given, given.targets[0], "one", None, "two")

    assert stays.target(given, None, "none", "two") == key("a")
    assert stays.target(given, "one") == key("a")
    assert stays.target(given, None) is None
    assert stays.target(other, "one") is None


def test_nothing_stays_without_stickiness() -> None:
    stays, given = Stays(), plan([planned("a")], sticky_s=0)

    stays.keep(given, given.targets[0], "one")

    assert stays.target(given, "one") is None
