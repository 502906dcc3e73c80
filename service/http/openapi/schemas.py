"""Turn Python types into JSON Schema; named ones are kept once, under components."""

from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

from service.http.openapi.descriptions import BODY

Schema = dict[str, Any]

REFERENCE = "#/components/schemas/{model}"
DECIMAL = r"^[0-9]{1,9}(\.[0-9]{1,9})?$"
# What parse_body and its like refuse everywhere: PostgreSQL can't store it.
NO_NUL = r"^[^\x00]*$"


class Schemas:
    """The named schemas of one document."""

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}

    def of_answer(self, annotation: Any) -> Schema:
        """Return the schema of what an operation puts into an answer."""
        return self._referring(annotation, "serialization")

    def of_request(self, model: type[BaseModel]) -> Schema:
        """Return the schema of a body, as a reference."""
        return self._referring(model, "validation")

    def of_parameters(self, model: type[BaseModel]) -> Schema:
        """Return the schema of a query as one object, not kept under a name."""
        return self._of(TypeAdapter(model), "validation")

    def of_parameter(self, adapter: TypeAdapter[Any]) -> Schema:
        return self._of(adapter, "validation")

    def _referring(self, annotation: Any, mode: JsonSchemaMode) -> Schema:
        # pydantic refers to a named type only from within another one.
        schema: Schema = self._of(TypeAdapter(list[annotation]), mode)["items"]
        return schema

    def _of(self, adapter: TypeAdapter[Any], mode: JsonSchemaMode) -> Schema:
        schema = adapter.json_schema(
            mode=mode, ref_template=REFERENCE, schema_generator=_Generator
        )
        for name, named in schema.pop("$defs", {}).items():
            named.pop("title", None)
            if mode == "validation":
                _describe(named)
            if self.named.setdefault(name, named) != named:
                raise ValueError(f"two types of the API are named {name}")
        schema.pop("title", None)
        return schema


def _describe(named: Schema) -> None:
    """Describe the fields of a body that their types don't."""
    for name, field in named.get("properties", {}).items():
        if name in BODY:
            field.setdefault("description", BODY[name])


class _Generator(GenerateJsonSchema):
    """As pydantic does it, but for what this service reads and writes otherwise."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        # to_json writes a number with exactly the digits.
        number: JsonSchemaValue = {"type": "number", "format": "decimal"}
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
