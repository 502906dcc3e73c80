"""From Python types to JSON Schema; named ones are kept once, under components."""

import types
from collections.abc import Mapping, Sequence
from typing import (
    Annotated,
    Any,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

Schema = dict[str, Any]

REFERENCE = "#/components/schemas/{model}"
# What parse_body and its like refuse everywhere: PostgreSQL can't store it.
DECIMAL = r"^[0-9]{1,9}(\.[0-9]{1,9})?$"
NO_NUL = r"^[^\x00]*$"


class Schemas:
    """The named schemas of one document."""

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}
        self._sources: dict[str, Any] = {}

    def of_answer(self, annotation: Any) -> Schema:
        """Return the schema of what an operation puts into an answer."""
        if annotation is Any:
            return {}
        if is_typeddict(annotation):
            return self._typed_dict(annotation)
        if not _holds_typed_dict(annotation):
            return self._of_pydantic(TypeAdapter(annotation), "serialization")
        return self._around_typed_dicts(get_origin(annotation), get_args(annotation))

    def _around_typed_dicts(self, origin: Any, arguments: tuple[Any, ...]) -> Schema:
        if origin is Annotated:
            return self.of_answer(arguments[0]) | _words(arguments[1:])
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of_answer(each) for each in arguments]}
        if origin in (list, Sequence):
            return {"type": "array", "items": self.of_answer(arguments[0])}
        if origin in (dict, Mapping):
            values = self.of_answer(arguments[1])
            return {"type": "object", "additionalProperties": values}
        if origin in (Required, NotRequired):
            return self.of_answer(arguments[0])
        raise TypeError(f"no schema for {origin} around a TypedDict")

    def of_request(self, model: type[BaseModel]) -> Schema:
        """Return the schema of a body, as a reference."""
        self._claim(model.__name__, model)
        schema = self._of_pydantic(TypeAdapter(model), "validation")
        if "$ref" not in schema:
            self.named[model.__name__] = schema
        return {"$ref": REFERENCE.format(model=model.__name__)}

    def of_parameters(self, model: type[BaseModel]) -> Schema:
        """Return the schema of a query as one object, not kept under a name."""
        return self._of_pydantic(TypeAdapter(model), "validation")

    def of_parameter(self, adapter: TypeAdapter[Any]) -> Schema:
        return self._of_pydantic(adapter, "validation")

    def _typed_dict(self, kind: Any) -> Schema:
        # Not by pydantic, which reads typing's own TypedDict only from 3.12 on.
        name = kind.__name__
        if self._claim(name, kind):
            schema: Schema = {"type": "object"}
            self.named[name] = schema
            if kind.__doc__:
                schema["description"] = kind.__doc__.strip()
            schema["properties"] = {
                field: self.of_answer(annotation)
                for field, annotation in get_type_hints(
                    kind, include_extras=True
                ).items()
            }
            required = [key for key in schema["properties"] if key in _required(kind)]
            if required:
                schema["required"] = required
        return {"$ref": REFERENCE.format(model=name)}

    def _claim(self, name: str, source: Any) -> bool:
        """Say whether a name is new.

        :raises ValueError: when another type has it
        """
        if self._sources.setdefault(name, source) is not source:
            raise ValueError(f"two types of the API are named {name}")
        return name not in self.named

    def _of_pydantic(self, adapter: TypeAdapter[Any], mode: Any) -> Schema:
        schema = adapter.json_schema(
            mode=mode, ref_template=REFERENCE, schema_generator=_Generator
        )
        for name, named in schema.pop("$defs", {}).items():
            named.pop("title", None)
            if self.named.setdefault(name, named) != named:
                raise ValueError(f"two types of the API are named {name}")
        schema.pop("title", None)
        return schema


class _Generator(GenerateJsonSchema):
    """As pydantic does it, but for what this service reads and writes otherwise."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        # to_json writes a number with exactly the digits.
        number: JsonSchemaValue = {"type": "number"}
        if self.mode == "serialization":
            return number
        self.update_with_validations(number, schema, self.ValidationsMapping.numeric)
        # Some JSON writers have no numbers but of binary floating point.
        return {"anyOf": [number, {"type": "string", "pattern": DECIMAL}]}

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        found = super().str_schema(schema)
        if self.mode == "validation":
            found.setdefault("pattern", NO_NUL)
        return found

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def _required(kind: Any) -> frozenset[str]:
    required: frozenset[str] = kind.__required_keys__
    return required


def _holds_typed_dict(annotation: Any) -> bool:
    return is_typeddict(annotation) or any(
        _holds_typed_dict(each) for each in get_args(annotation)
    )


def _words(metadata: Sequence[Any]) -> Schema:
    """Return the description among an annotation's metadata."""
    for each in metadata:
        if isinstance(each, FieldInfo) and each.description:
            return {"description": each.description}
    return {}
