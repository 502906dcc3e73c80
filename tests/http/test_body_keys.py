"""Counting finds a key that stands twice as surely as reading strictly does."""

import json
from typing import Annotated, Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from service.http.body_keys import shape_of
from service.http.requests import RequestModel


class Inner(RequestModel):
    stance: str
    note: str = ""


class Outer(RequestModel):
    rules: list[Inner]
    first: Inner | None = None
    name: Annotated[str, Field(alias="stance")] = ""


class Free(RequestModel):
    attributes: dict[str, str]


text = st.sampled_from(["", "stance", '"stance"', "rules", "a:b", "{}", "note"])
inner = st.fixed_dictionaries({"stance": text}, optional={"note": text})
outer = st.fixed_dictionaries(
    {"rules": st.lists(inner, max_size=4)}, optional={"first": inner, "stance": text}
)


def written(value: Any, repeat: bool) -> str:  # noqa: FBT001
    """Write JSON by hand; ``repeat`` writes each object's last key twice."""
    if isinstance(value, dict):
        pairs = [
            f"{json.dumps(key)}:{written(each, repeat)}" for key, each in value.items()
        ]
        return "{" + ",".join(pairs + (pairs[-1:] if repeat else [])) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(each, repeat) for each in value) + "]"
    return json.dumps(value)


@given(outer)
def test_a_body_without_repetition_passes_unless_a_text_looks_like_a_key(
    body: dict[str, Any],
) -> None:
    sent = written(body, repeat=False)
    texts = {"stance", '"stance"', "rules", "note"}
    looks_like_key = any(f":{json.dumps(each)}" in sent for each in texts)

    once = shape_of(Outer).each_key_once(Outer.model_validate_json(sent), sent.encode())

    assert once or looks_like_key


@given(outer)
def test_a_body_with_repetition_never_passes(body: dict[str, Any]) -> None:
    sent = written(body, repeat=True)

    assert not shape_of(Outer).each_key_once(
        Outer.model_validate_json(sent), sent.encode()
    )


def test_a_model_with_free_keys_is_always_read_strictly() -> None:
    assert shape_of(Free).is_open
    assert not shape_of(Outer).is_open
