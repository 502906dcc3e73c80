"""JSON is read in one way by everybody: in UTF-8, and with every key once."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import MalformedRequestError
from service.http.json_body import parse_json
from service.http.requests import RequestModel
from service.price_catalog.bodies import PriceBody


class Inner(RequestModel):
    stance: str
    note: str = ""


class Outer(RequestModel):
    rules: list[Inner]
    first: Inner | None = None


text = st.sampled_from(["", "stance", '"stance"', "rules", "a:b", "{}", "note"])
inner = st.fixed_dictionaries({"stance": text}, optional={"note": text})
outer = st.fixed_dictionaries(
    {"rules": st.lists(inner, max_size=4)}, optional={"first": inner}
)


def written(value: Any, *, repeat: bool) -> str:
    """Write JSON by hand; ``repeat`` writes each object's last key twice."""
    if isinstance(value, dict):
        pairs = [
            f"{json.dumps(key)}:{written(each, repeat=repeat)}"
            for key, each in value.items()
        ]
        return "{" + ",".join(pairs + (pairs[-1:] if repeat else [])) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(each, repeat=repeat) for each in value) + "]"
    return json.dumps(value)


@given(outer)
def test_a_body_with_every_key_once_is_taken(body: dict[str, Any]) -> None:
    parsed = parse_json(written(body, repeat=False).encode(), Outer)

    assert parsed.model_dump(exclude_unset=True) == body


@given(outer)
def test_a_body_with_a_key_twice_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(MalformedRequestError) as refusal:
        parse_json(written(body, repeat=True).encode(), Outer)

    assert refusal.value.code == "duplicate_key"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_a_price_in_another_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(MalformedRequestError) as refusal:
        parse_json('{"currency": "USD"}'.encode(encoding), PriceBody)

    assert refusal.value.code == "not_json"
