"""Which route decides, and where it leads."""

from collections.abc import Mapping
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model_gateway.routing.decision import (
    RoutedTier,
    RouteTarget,
    RoutingProblem,
    deciding_route,
    matching_routes,
    target_of,
    tier_of,
)
from service.model_gateway.routing.resource import (
    changed_names,
    route_problems,
    routed_name,
)
from service.model_gateway.routing.terms import NO_ROUTES
from tests.support.model_gateway.making import routed, to_preset, to_tier
from tests.unit.tool_rules.naive_glob import matches_by_definition

P, Q, R = (UUID(int=number) for number in range(1, 4))
PATTERNS = st.lists(st.text("ab*?", min_size=1, max_size=4), max_size=6)


@given(PATTERNS, st.text("ab", max_size=5))
def test_the_first_route_that_matches_decides(patterns: list[str], model: str) -> None:
    terms = routed(*[to_preset(each, P) for each in patterns])
    expected = [
        number
        for number, pattern in enumerate(patterns)
        if matches_by_definition(pattern, model)
    ]

    assert [*matching_routes(model, terms)] == expected
    assert deciding_route(model, terms) == (expected[0] if expected else None)


@given(PATTERNS, st.text("ab", max_size=5), st.text("ab*?", min_size=1, max_size=4))
def test_a_further_route_at_the_end_changes_no_decision(
    patterns: list[str], model: str, last: str
) -> None:
    routes = [to_preset(each, P) for each in patterns]
    before = deciding_route(model, routed(*routes))
    after = deciding_route(model, routed(*routes, to_preset(last, Q)))

    if before is not None:
        assert after == before
    else:
        assert after in (None, len(patterns))


@pytest.mark.parametrize(
    ("pattern", "model", "decides"),
    [
        ("claude-*", "claude-haiku-4-5", True),
        ("claude-*", "claude-", True),
        ("claude-*", "Claude-haiku", False),
        ("Claude-*", "claude-haiku", False),
        ("claude", "claude-haiku", False),
        ("haiku", "claude-haiku", False),
        ("gpt-4?", "gpt-4o", True),
        ("gpt-4?", "gpt-4", False),
        ("gpt-4.1", "gpt-4x1", False),
        ("[a-z]*", "claude", False),
        ("[a-z]*", "[a-z]b", True),
        ("*", "anthropic/claude é\n", True),
        ("a|b", "b", False),
    ],
)
def test_a_pattern_matches_the_whole_name_and_case_matters(
    *, pattern: str, model: str, decides: bool
) -> None:
    terms = routed(to_preset(pattern, P))

    assert deciding_route(model, terms) == (0 if decides else None)


def test_a_route_to_a_preset_looks_at_no_tier() -> None:
    terms = routed(to_preset("*", P), fast=Q)

    found = target_of(terms["routes"][0], terms, {"fast": str(R)})

    assert found == RouteTarget(str(P), None)


@pytest.mark.parametrize(
    ("own", "registry", "expected"),
    [
        ({"fast": P}, {"fast": str(Q)}, RoutedTier("fast", str(P), "agent")),
        ({"fast": P}, {}, RoutedTier("fast", str(P), "agent")),
        ({"other": P}, {"fast": str(Q)}, RoutedTier("fast", str(Q), "registry")),
        ({"Fast": P}, {"other": str(Q)}, RoutedTier("fast", None, None)),
    ],
)
def test_an_agents_own_tier_comes_before_the_registrys(
    own: dict[str, UUID], registry: dict[str, str], expected: RoutedTier
) -> None:
    terms = routed(to_tier("*", "fast"), **own)

    assert tier_of("fast", terms, registry) == expected
    found = target_of(terms["routes"][0], terms, registry)
    assert found == RouteTarget(expected.preset_id, expected)


CALLABLE: Mapping[str, RoutingProblem | None] = {
    str(P): None,
    str(Q): None,
    str(R): None,
}


def test_a_name_leads_to_a_preset_by_a_tier_or_nowhere() -> None:
    terms = routed(to_preset("a", P), to_tier("b", "fast"), to_tier("c", "gone"))
    problems = {**CALLABLE, str(Q): RoutingProblem.PRESET_UNAVAILABLE}

    def name(model: str) -> tuple[str | None, str | None, RoutingProblem | None]:
        found = routed_name(model, terms, {"fast": str(Q)}, problems)
        return found["preset_id"], found["tier"], found["problem"]

    assert name("a") == (str(P), None, None)
    assert name("b") == (str(Q), "fast", RoutingProblem.PRESET_UNAVAILABLE)
    assert name("c") == (None, "gone", RoutingProblem.UNKNOWN_TIER)
    assert name("d") == (None, None, RoutingProblem.NO_ROUTE)


def test_routes_by_which_nothing_can_be_called() -> None:
    terms = routed(to_preset("a", P), to_tier("b", "fast"), to_tier("c", "gone"))
    problems = {**CALLABLE, str(Q): RoutingProblem.NO_TARGET}

    assert [*route_problems(terms, {"fast": str(Q)}, problems)] == [
        {"model": "b", "problem": RoutingProblem.NO_TARGET},
        {"model": "c", "problem": RoutingProblem.UNKNOWN_TIER},
    ]


def test_changed_names_are_those_that_lead_elsewhere_in_the_order_given() -> None:
    before = routed(to_preset("a*", P), to_preset("b", P), to_tier("c", "fast"))
    after = routed(to_preset("ab", Q), to_preset("a*", P), to_tier("c", "fast"), fast=R)
    names = ["c", "d", "b", "ax", "ab"]

    changed = [*changed_names(names, before, after, {"fast": str(Q)}, CALLABLE)]

    def to(preset: UUID, tier: str | None = None) -> dict[str, object]:
        return {"preset_id": str(preset), "tier": tier, "problem": None}

    nowhere = {"preset_id": None, "tier": None, "problem": RoutingProblem.NO_ROUTE}
    assert changed == [
        {"model": "c", "before": to(Q, "fast"), "after": to(R, "fast")},
        {"model": "b", "before": to(P), "after": nowhere},
        {"model": "ab", "before": to(P), "after": to(Q)},
    ]
    assert [*changed_names(names, before, before, {"fast": str(Q)}, CALLABLE)] == []
    assert [*changed_names(names, NO_ROUTES, NO_ROUTES, {}, CALLABLE)] == []


def test_another_way_to_the_same_preset_changes_nothing() -> None:
    before, after = routed(to_preset("a", P)), routed(to_tier("a", "own"), own=P)

    assert [*changed_names(["a"], before, after, {}, CALLABLE)] == []
