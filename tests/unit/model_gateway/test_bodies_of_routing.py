"""What the bodies of tiers and routing take, and where they say a fault is."""

from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from service.http.validation_errors import problems_of
from service.model_gateway.routing.body import RoutingBody
from service.model_gateway.tiers.body import TiersBody
from tests.unit.model_gateway.test_bodies import ONE, TWO, faults


def routing(*routes: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"routes": [*routes], "tiers": {}, **other}


def route(model: str = "*", **other: Any) -> dict[str, Any]:
    return {"model": model, **(other or {"preset_id": ONE})}


@pytest.mark.parametrize("name", ["a", "0", "fast", "a.b_c-d", "x" * 64])
def test_tiers_taken(name: str) -> None:
    assert faults(TiersBody, {"tiers": {name: ONE}}) == []
    assert faults(RoutingBody, routing(route(tier=name))) == []
    assert faults(RoutingBody, routing(tiers={name: ONE})) == []


@pytest.mark.parametrize(
    "name", ["", "A", "Fast", "-a", ".a", "a b", "a/b", "a\n", "é", "x" * 65]
)
def test_tiers_refused(name: str) -> None:
    assert faults(TiersBody, {"tiers": {"a": ONE, name: ONE}}) == ["tiers"]
    assert faults(RoutingBody, routing(tiers={name: ONE})) == ["tiers"]
    assert faults(RoutingBody, routing(route(tier=name))) == ["routes[0].tier"]


def test_a_refused_tier_is_named() -> None:
    with pytest.raises(ValidationError) as refused:
        TiersBody.model_validate_json(orjson.dumps({"tiers": {"a": ONE, "Big": TWO}}))

    (problem,) = problems_of(refused.value)
    assert problem.message.startswith("the tier 'Big' must be of lower-case letters")


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({"tiers": {}}, []),
        ({}, ["tiers"]),
        ({"tiers": []}, ["tiers"]),
        ({"tiers": {"fast": None}}, ["tiers.fast"]),
        ({"tiers": {"fast": "7"}}, ["tiers.fast"]),
        ({"tiers": {f"t{number}": ONE for number in range(100)}}, []),
        ({"tiers": {f"t{number}": ONE for number in range(101)}}, ["tiers"]),
        ({"tiers": {}, "mode": "merge"}, ["mode"]),
    ],
)
def test_bodies_of_tiers(body: Any, paths: list[str]) -> None:
    assert faults(TiersBody, body) == paths


def test_a_preset_of_a_tier_is_kept_in_lower_case() -> None:
    upper = "9B2D0B0A-4A53-4D0E-A5A8-0F6F3A9F1D11"
    body = TiersBody.model_validate_json(orjson.dumps({"tiers": {"fast": upper}}))

    assert body.presets == {"fast": upper.lower()}


@pytest.mark.parametrize(
    "model", ["a", "*", "?", "x" * 128, "anthropic/claude-4.5:beta@1", "[a]", "!~"]
)
def test_patterns_taken(model: str) -> None:
    assert faults(RoutingBody, routing(route(model))) == []


@pytest.mark.parametrize("model", ["", "x" * 129, "a b", "é", "a\n", "\t", None, 1])
def test_patterns_refused(model: Any) -> None:
    assert faults(RoutingBody, routing(route(model))) == ["routes[0].model"]


@pytest.mark.parametrize(
    ("other", "paths"),
    [
        ({"preset_id": ONE}, []),
        ({"tier": "fast"}, []),
        ({"preset_id": ONE, "tier": None}, []),
        ({"preset_id": ONE, "tier": "fast"}, ["routes[0].preset_id"]),
        ({"preset_id": None, "tier": None}, ["routes[0].preset_id"]),
        ({"preset_id": "7"}, ["routes[0].preset_id"]),
        ({"preset_id": ONE, "weight": 1}, ["routes[0].weight"]),
    ],
)
def test_a_route_has_one_target(other: dict[str, Any], paths: list[str]) -> None:
    assert faults(RoutingBody, routing(route(**other))) == paths


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        (routing(), []),
        ({"tiers": {}}, ["routes"]),
        ({"routes": []}, ["tiers"]),
        (routing(routes={}), ["routes"]),
        (routing({"model": "*"}), ["routes[0].preset_id"]),
        (routing(route("a"), route("b"), route("a", tier="t")), ["routes"]),
        (routing(route("a"), route("A"), route("a*")), []),
        (routing(route("a"), route("*")), []),
        (routing(route("*"), route("a")), ["routes"]),
        (routing(*[route(f"m{number}") for number in range(50)]), []),
        (routing(*[route(f"m{number}") for number in range(51)]), ["routes"]),
        (routing(tiers={f"t{n}": ONE for n in range(101)}), ["tiers"]),
        (routing(tiers=None), ["tiers"]),
        (routing(default=ONE), ["default"]),
    ],
)
def test_bodies_of_a_routing(body: Any, paths: list[str]) -> None:
    assert faults(RoutingBody, body) == paths


def test_a_routing_keeps_the_order_of_routes_and_sorts_tiers() -> None:
    given = {
        "routes": [route("b"), route("a", tier="t")],
        "tiers": {"y": TWO, "t": ONE},
    }

    body = RoutingBody.model_validate_json(orjson.dumps(given))

    assert body.terms == {
        "routes": [
            {"model": "b", "preset_id": ONE, "tier": None},
            {"model": "a", "preset_id": None, "tier": "t"},
        ],
        "tiers": {"t": ONE, "y": TWO},
    }
    assert list(body.terms["tiers"]) == ["t", "y"]
