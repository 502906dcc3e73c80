"""See from a parsed body and its bytes whether it names every key once.

JSON readers disagree about a key that stands twice in one object, and pydantic takes
the last without a word. Reading every body a second time would find it, at twice the
cost of validating; counting costs a tenth of that.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Shape:
    """The keys that bodies of a model can have; ``is_open``: any others too."""

    quoted_keys: tuple[bytes, ...]
    nested: tuple[str, ...]
    is_open: bool

    def each_key_once(self, parsed: BaseModel, body: bytes) -> bool:
        """Say yes if surely so, for a body without escapes; no means look closer."""
        return sum(map(body.count, self.quoted_keys)) == self.given(parsed)

    def given(self, parsed: BaseModel) -> int:
        """Count the keys that were given, in everything below too."""
        count = len(parsed.__pydantic_fields_set__)
        for name in self.nested:
            value = getattr(parsed, name)
            # Asking whether something is a model takes much longer.
            if isinstance(value, list):
                count += _given_in_all(value) if value else 0
            elif isinstance(value, BaseModel):
                count += shape_of(type(value)).given(value)
            elif value:
                count += _given_in_all(value)
        return count


def _given_in_all(items: list[BaseModel]) -> int:
    shape = shape_of(type(items[0]))
    if shape.nested:
        return sum([shape.given(item) for item in items])
    return sum([len(item.__pydantic_fields_set__) for item in items])


@cache
def shape_of(model: type[BaseModel]) -> Shape:
    """Return the shape of a model whose fields hold values, models or lists of one."""
    keys: set[bytes] = set()
    nested: list[str] = []
    is_open = False
    for name, field in model.model_fields.items():
        keys.add(b'"%s"' % (field.alias or name).encode())
        inner, free = _models_in(field.annotation)
        is_open = is_open or free or len(inner) > 1
        if inner:
            nested.append(name)
        for each in inner:
            below = shape_of(each)
            keys |= set(below.quoted_keys)
            is_open = is_open or below.is_open
    return Shape(tuple(sorted(keys)), tuple(nested), is_open)


def _models_in(annotation: Any) -> tuple[list[type[BaseModel]], bool]:
    """Return the models in an annotation, and whether it admits free keys."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation], False
    if annotation in (Any, object, dict) or get_origin(annotation) is dict:
        return [], True
    found: list[type[BaseModel]] = []
    free = False
    for each in get_args(annotation):
        inner, below = _models_in(each)
        found += inner
        free = free or below
    return found, free
