"""Turn JSON Schema into Python types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from client.generator.names import model_names

Json = dict[str, Any]

FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    "uuid": ("UUID", "UUID"),
    "date-time": ("datetime", "datetime.fromisoformat"),
    "date": ("date", "date.fromisoformat"),
    "password": ("Secret", "Secret"),
}
SIMPLE: Final[Mapping[str, str]] = {
    "string": "str",
    "integer": "int",
    "boolean": "bool",
    "null": "None",
}
# What callers may pass instead.
ACCEPTED: Final[Mapping[str, str]] = {
    "UUID": "UUID | str",
    "Secret": "Secret | str",
    "Decimal": "Decimal | int | str",
}


@dataclass(frozen=True, slots=True)
class Type:
    """A type as annotation, and how it is converted from JSON; "" needs nothing."""

    annotation: str
    converter: str = ""
    # As the annotation of a parameter.
    accepted: str = ""
    is_nullable: bool = False
    # A choice of types that need different converters: stays as JSON in answers.
    is_ambiguous: bool = False

    @property
    def parameter(self) -> str:
        return self.accepted or self.annotation

    @property
    def answered(self) -> str:
        """The annotation of a field of an answer."""
        return "Any" if self.is_ambiguous else self.annotation

    @property
    def item_converter(self) -> str:
        """The converter within a list or mapping."""
        if self.converter and self.is_nullable:
            return f"optional({self.converter})"
        return self.converter


@dataclass(slots=True)
class Types:
    """The types of one document."""

    schemas: Mapping[str, Json]
    names: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = model_names(self.schemas)

    def resolved(self, schema: Json) -> Json:
        """Return a schema, or the one that it refers to."""
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[-1]]
        return schema

    def of(self, schema: Json) -> Type:  # noqa: PLR0911 # one for each kind of schema
        """Return the Python type of a schema; Any for what isn't known here."""
        if "$ref" in schema:
            return self._named(schema["$ref"].rsplit("/", 1)[-1])
        if "anyOf" in schema:
            return self._any_of(schema["anyOf"])
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return Type(f"Literal[{', '.join(map(repr, values))}]")
        kind = schema.get("type")
        if kind == "string":
            annotation, converter = FORMATS.get(schema.get("format", ""), ("str", ""))
            return Type(annotation, converter, ACCEPTED.get(annotation, ""))
        if kind == "number":
            if schema.get("format") == "decimal":
                return Type("Decimal", "decimal", ACCEPTED["Decimal"])
            return Type("float", "float")
        if kind == "array":
            return _list(self.of(schema.get("items", {})))
        if kind == "object":
            return self._object(schema)
        return Type(SIMPLE.get(str(kind), "Any"))

    def _named(self, name: str) -> Type:
        schema = self.schemas[name]
        if "properties" not in schema:
            found = self.of(schema)
            return Type(self.names[name], found.converter, found.accepted)
        return Type(self.names[name], f"{self.names[name]}.decode")

    def _object(self, schema: Json) -> Type:
        values = schema.get("additionalProperties")
        if not isinstance(values, dict) or not values:
            return Type("Mapping[str, Any]")
        inner = self.of(values)
        converter = f"dict_of({inner.item_converter})" if inner.converter else ""
        return Type(
            f"Mapping[str, {inner.answered}]",
            converter,
            f"Mapping[str, {inner.parameter}]",
        )

    def _any_of(self, choices: list[Json]) -> Type:
        rest = [each for each in choices if each != {"type": "null"}]
        is_nullable = len(rest) < len(choices)
        null = " | None" if is_nullable else ""
        if decimals := [each for each in rest if each.get("format") == "decimal"]:
            # As text it is the same number.
            rest = decimals
        types = list(dict.fromkeys(self.of(each) for each in rest))
        is_ambiguous = len(types) > 1 and any(each.converter for each in types)
        return Type(
            " | ".join(each.annotation for each in types) + null,
            "" if len(types) > 1 else types[0].converter,
            " | ".join(each.parameter for each in types) + null,
            is_nullable,
            is_ambiguous,
        )


def _list(item: Type) -> Type:
    converter = f"list_of({item.item_converter})" if item.converter else ""
    return Type(f"Sequence[{item.answered}]", converter, f"Sequence[{item.parameter}]")
